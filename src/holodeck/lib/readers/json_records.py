"""JSON and JSON lines: each item of a list is a document; anything else is one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.decoding import clean_text, read_text
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.records import Record, record_documents

__all__ = ["read", "read_lines"]

_TOO_DEEP = "nested too deeply to be read: flatten it"


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return a document for each item of a list at the top, else one of ``a.b: value`` lines."""
    text, notes = read_text(file, options)
    if not text.strip():
        raise ReadError("no text: it is empty or blank")
    try:
        value = _parse(text)
        if isinstance(value, list):
            documents = record_documents(list(_records(value)), path, notes)
        else:
            record = _record(1, value)
            documents = [
                Document(
                    place=Place(path=path), text=each.text, metadata=each.metadata, notes=notes
                )
                for each in record_documents([record], path)
            ]
    except RecursionError as error:
        raise ReadError(_TOO_DEEP) from error
    if not documents:
        raise ReadError("no text: it holds no value")
    return documents


def read_lines(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return a document for each line; a broken line is noted by its number and left out."""
    text, notes = read_text(file, options)
    records: list[Record] = []
    row = 0
    # Only a newline ends a line: JSON strings may hold other separators as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row += 1
        try:
            records.append(_record(row, _parse(line)))
        except RecursionError:
            notes += (f"line {number} is left out: {_TOO_DEEP}",)
        except ReadError as error:
            notes += (f"line {number} is left out: {error}",)
    documents = record_documents(records, path, notes)
    if not documents:
        raise ReadError("; ".join(notes[:3]) or "no text: it is empty or blank")
    return documents


def _parse(text: str) -> Any:  # Any: JSON
    """Return the value with its numbers as they are written.

    Raises:
        ReadError: It is not JSON.
    """
    try:
        return json.loads(
            text,
            parse_int=str,
            parse_float=str,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        hint = "; one value a line belongs in a .jsonl file" if error.msg == "Extra data" else ""
        raise ReadError(
            f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}{hint}"
        ) from error


def _refuse_constant(constant: str) -> Any:  # Any: it never returns
    raise ReadError(f"not JSON: {constant} is no value; write null or a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:  # Any: JSON
    """Return the object; a name that stands in it twice keeps both values."""
    result: dict[str, Any] = {}
    for name, value in pairs:
        unique, count = name, 1
        while unique in result:
            count += 1
            unique = f"{name} ({count})"
        result[unique] = value
    return result


def _records(items: list[Any]) -> Iterator[Record]:  # Any: JSON
    return (_record(number, item) for number, item in enumerate(items, start=1))


def _record(row: int, value: Any) -> Record:  # Any: JSON
    if isinstance(value, dict | list):
        fields = {name: text for name, text in _flatten("", value) if text.strip()}
        return Record(row=row, fields=fields)
    return Record(row=row, fields={}, text=_scalar(value))


def _flatten(name: str, value: Any) -> Iterator[tuple[str, str]]:  # Any: JSON
    """Yield dotted names and values; a list of plain values is one value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flatten(_dotted(name, clean_text(key)), inner)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for number, inner in enumerate(value, start=1):
            yield from _flatten(_dotted(name, str(number)), inner)
    elif isinstance(value, list):
        yield name or "values", ", ".join(filter(None, map(_scalar, value)))
    else:
        yield name, _scalar(value)


def _dotted(name: str, inner: str) -> str:
    return f"{name}.{inner}" if name else inner


def _scalar(value: Any) -> str:  # Any: JSON
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return clean_text(str(value))
