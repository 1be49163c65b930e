"""JSON and JSON lines: each item of a list is a document; anything else is one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from holodeck.errors import ConfigError, ReadError
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
        if options.record_path is not None:
            records = list(_records_at(value, options, path))
            documents = record_documents(records, path, options, notes=notes)
        elif isinstance(value, list):
            documents = record_documents(list(_records(value)), path, options, notes=notes)
        else:
            record = _record(1, value)
            documents = [
                replace(each, place=Place(path=path))
                for each in record_documents([record], path, options, notes=notes)
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
    documents = record_documents(records, path, options, notes=notes)
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


def _records_at(value: Any, options: ReadOptions, path: str) -> Iterator[Record]:  # Any: JSON
    """Yield the records at ``record_path``, each with the plain values that stand around them."""
    assert options.record_path is not None
    around: dict[str, str] = {}
    steps = options.record_path.split(".")
    for number, step in enumerate(steps):
        if not isinstance(value, dict) or step not in value:
            has = ", ".join(value) if isinstance(value, dict) else "none, it is no object"
            where = ".".join(steps[:number]) or "its top"
            raise ConfigError(
                f"{path} has no {step!r} at {where} (there: {has}): mend record_path",
                field="record_path",
            )
        above = ".".join(steps[:number])
        for name, inner in value.items():
            if name != step and not isinstance(inner, dict | list) and _scalar(inner).strip():
                around[options.meta_prefix + _dotted(above, clean_text(name))] = _scalar(inner)
        value = value[step]
    if not isinstance(value, list):
        raise ConfigError(
            f"{path} has no list at {options.record_path}: mend record_path", field="record_path"
        )
    for record in _records(value):
        own = {options.record_prefix + name: text for name, text in record.fields.items()}
        yield replace(record, fields={**own, **{k: v for k, v in around.items() if k not in own}})


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
