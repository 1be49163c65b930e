"""Records of replies that are in another format altogether: JSON, tuples with commas, tables.

They are looked for only where a reply holds no record in the format that was asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holodeck.lib.graphrag.records import KINDS, RawRecord

__all__ = ["find_odd_records", "looks_like_records"]

_REPAIR = "another format"
_KIND = r"(?P<kind>entity|entities|relationships?|relations?)"
# Atomic groups, so that a reply without an end takes no exponential time to read.
_FIELD = r"(?>\"(?:\\.|[^\"\\\n])*+\"|'(?:\\.|[^'\\\n])*+'|[^\s,;\"'()\[\]][^,;\t\"'()\[\]\n]*+)"
_TUPLE = re.compile(
    rf"[(\[（]\s{{0,9}}[\"'“]?{_KIND}[\"'”]?\s{{0,9}}[,;\t]"
    rf"(?P<rest>(?>\s*+{_FIELD}(?: *+[,;\t]\s*+{_FIELD})*+))[,;\s]{{0,9}}[)\]）]",
    re.IGNORECASE,
)
_ONE_FIELD = re.compile(_FIELD)
_ROW = re.compile(r"^[ \t]*\|(?P<cells>[^\n]+?)\|?[ \t]*$", re.MULTILINE)
_BELOW_HEADING = re.compile(r"\n[ \t]*\|[ \t]*:?-")
_DRESS = " \t\"'“”*_`"
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_LIKENESS = re.compile(r"[\"']\s*[,:;|]\s*[\"'\[{]|^[ \t]*\|.*\|.*\||<\|>", re.MULTILINE)

_ENTITY_KEYS: tuple[tuple[str, ...], ...] = (
    ("entity_name", "name", "title", "entity", "label"),
    ("entity_type", "type", "category"),
    ("entity_description", "description", "summary"),
)
_RELATIONSHIP_KEYS: tuple[tuple[str, ...], ...] = (
    ("source_entity", "source", "from", "subject", "head"),
    ("target_entity", "target", "to", "object", "tail"),
    ("relationship_description", "description", "relationship", "relation", "type"),
    ("relationship_strength", "strength", "weight", "score"),
)

Json = Any  # Any: JSON


def find_odd_records(text: str) -> list[RawRecord]:
    """Return the records of an answer in another format, in order."""
    return list(_in_tuples(text)) or list(_in_rows(text)) or list(_in_objects(_json(text)))


def looks_like_records(text: str) -> bool:
    """Tell whether an answer is more than prose, though no record of it can be read."""
    return _LIKENESS.search(text) is not None


def _in_tuples(text: str) -> Iterator[RawRecord]:
    for match in _TUPLE.finditer(text):
        fields = [_plain(part) for part in _ONE_FIELD.findall(match.group("rest"))]
        yield _record(match.group("kind"), fields)


def _plain(field: str) -> str:
    bare = field.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", bare[1:-1])
    return bare


def _in_rows(text: str) -> Iterator[RawRecord]:
    for match in _ROW.finditer(text):
        kind, *cells = (cell.strip() for cell in match.group("cells").split("|"))
        if _BELOW_HEADING.match(text, match.end()):
            continue
        if kind.strip(_DRESS).casefold() in KINDS and len(cells) > 1:
            yield _record(kind.strip(_DRESS), cells)


def _json(text: str) -> Json:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    body = text[min(starts) :] if starts else ""
    try:
        return json.JSONDecoder(strict=False).raw_decode(_TRAILING_COMMA.sub(r"\1", body))[0]
    except (ValueError, RecursionError):
        return None


def _in_objects(content: Json) -> Iterator[RawRecord]:
    """Yield the records among the objects of a JSON text, however they are nested."""
    pending = [content]
    while pending:
        value = pending.pop(0)
        if isinstance(value, list):
            pending[:0] = value
        elif isinstance(value, Mapping):
            given = {str(key).casefold(): each for key, each in value.items()}
            if _first(given, _RELATIONSHIP_KEYS[0]) and _first(given, _RELATIONSHIP_KEYS[1]):
                yield _record("relationship", [_first(given, keys) for keys in _RELATIONSHIP_KEYS])
            elif _first(given, _ENTITY_KEYS[0]):
                yield _record("entity", [_first(given, keys) for keys in _ENTITY_KEYS])
            else:
                pending[:0] = value.values()


def _first(given: Mapping[str, Json], keys: Sequence[str]) -> str:
    """Return the first of these that is a text or a number, as text."""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def _record(kind: str, fields: Sequence[str]) -> RawRecord:
    return RawRecord(kind=KINDS[kind.casefold()], fields=tuple(fields), repairs=(_REPAIR,))
