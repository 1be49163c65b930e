"""Where the records of an extraction reply begin and end, and what their fields are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = [
    "RawRecord",
    "find_records",
    "has_end_marker",
    "is_broken_off",
    "split_fields",
    "without_end_marker",
]

_STRICT = r"(?:<\s*\|{1,2}\s*>|&lt;\s*\|{1,2}\s*&gt;)"
_LOOSE = r"(?:<\s*\|{1,2}\s*>?|\|{1,2}\s*>|\|{1,2})"
_DELIMITER = re.compile(_STRICT)
_LOOSE_DELIMITER = re.compile(rf"{_STRICT}|{_LOOSE}")
_AS_ASKED = re.compile(r"<\|>")
_QUOTE = r"[\"'“”‘’`*\\]{0,6}"
# Repetitions are bounded, here and below, so that no reply takes quadratic time to read.
_START = re.compile(
    rf"(?P<open>[(\[{{]{{0,4}})\s{{0,9}}(?P<quote>{_QUOTE})(?P<kind>entity|relationship|relation)"
    rf"{_QUOTE}\s*(?={_STRICT}|{_LOOSE})",
    re.IGNORECASE,
)
# A record that calls itself something else, as models do that put the type first.
_OTHER_START = re.compile(
    rf"(?P<open>[(\[{{]{{1,4}})\s{{0,9}}(?P<quote>[\"'“])(?P<kind>[^\"'“”<>|\n]{{1,40}})[\"'”]\s*(?={_STRICT})"
)
_KINDS = {"entity": "entity", "relationship": "relationship", "relation": "relationship"}
_BEFORE_BARE = re.compile(r"(?:^|[\n)\]}#])[ \t]*(?:[-*•]|\d+[.)])?[ \t]*$")
_ENDS_IN_DELIMITER = re.compile(rf"(?:{_STRICT}|\|>?)\s*$")
_END = re.compile(r"(?:<\s*\|{0,2}|\|)\s*COMPLETE\s*(?:\|{0,2}\s*>|\|)", re.IGNORECASE)
# What may follow the bracket that closes a record: a separator, a list mark, the end of the line.
_AFTER_CLOSE = re.compile(r"[)\]}]{0,4}\s{0,9}(?:##|\n|\Z|[-*•,;.]{0,9}\s{0,9}\Z)")
_OPENED = re.compile(r"[(\[{]\s*[\"'“]?\w*\Z")
_SEPARATOR = re.compile(r"##|\n[ \t\r]{0,99}\n")


@dataclass(frozen=True, kw_only=True)
class RawRecord:
    """One record as it stands in a reply.

    Attributes:
        kind: ``entity``, ``relationship``, or what the model wrote in its place.
        fields: What follows the kind.
        is_cut: It was opened and the reply ends before it is closed.
    """

    kind: str
    fields: tuple[str, ...]
    repairs: tuple[str, ...] = ()
    is_cut: bool = False


def has_end_marker(text: str) -> bool:
    """Tell whether the model says that it is done."""
    return _END.search(text) is not None


def without_end_marker(text: str) -> str:
    """Return an answer without its end markers."""
    return _END.sub("", text)


def find_records(text: str) -> list[RawRecord]:
    """Return the records of an answer, in order."""
    starts = list(_starts(text))
    stops = [*(match.start() for match in starts[1:]), len(text)][: len(starts)]
    records = [_record(text, match, stop) for match, stop in zip(starts, stops, strict=True)]
    if records and is_broken_off(text) and all(not each.is_cut for each in records[:-1]):
        return records
    # Where brackets are left open all over, an open one at the end is no sign of a cut.
    return [replace(each, is_cut=False) for each in records]


def is_broken_off(text: str) -> bool:
    """Tell whether an answer ends inside a record, or between two, without the end marker."""
    if has_end_marker(text):
        return False
    starts = list(_starts(text))
    if not starts or not starts[-1].group("open"):
        return False
    body = text[starts[-1].end() :]
    inner, is_closed = _inside(body)
    return not is_closed or _OPENED.search(body[len(inner) + 1 :]) is not None


def _starts(text: str) -> Iterator[re.Match[str]]:
    others = [m for m in _OTHER_START.finditer(text) if m["kind"].casefold() not in _KINDS]
    for match in sorted([*_START.finditer(text), *others], key=re.Match.start):
        before = text[max(0, match.start() - 80) : match.start()]
        if _ENDS_IN_DELIMITER.search(before):
            continue  # a field of this name, in the middle of a record
        if match.group("open") or match.group("quote") or _BEFORE_BARE.search(before):
            yield match


def _record(text: str, match: re.Match[str], stop: int) -> RawRecord:
    body = text[match.end() : stop]
    marker = _END.search(body)
    body = body if marker is None else body[: marker.start()]
    repairs = []
    is_cut = False
    if match.group("open"):
        inner, is_closed = _inside(body)
        is_cut = not is_closed
        if not is_closed:
            repairs.append("missing bracket")
    else:
        inner = _bare_body(body)
        repairs.append("missing bracket")
    if not match.group("quote"):
        repairs.append("missing quotes")
    fields, is_loose = split_fields(inner)
    if is_loose:
        repairs.append("odd delimiter")
    if any("\n" in part for part in fields):
        repairs.append("record over several lines")
    kind = match.group("kind")
    kind = _KINDS.get(kind.casefold(), kind)
    return RawRecord(kind=kind, fields=fields, repairs=tuple(repairs), is_cut=is_cut)


def _inside(body: str) -> tuple[str, bool]:
    """Return what stands before the bracket that closes a record, and whether there is one.

    It is the first bracket that closes more than the record's own text opened and that ends a
    line or stands before a separator; else the last one that does.
    """
    depth = 1
    last = -1
    for found in re.finditer(r"[()\[\]{}]", body):
        at = found.start()
        depth += 1 if found.group() in "([{" else -1
        if found.group() in ")]}" and _AFTER_CLOSE.match(body, at + 1):
            last = at
            if depth <= 0:
                return body[:at], True
    if last >= 0:
        return body[:last], True
    return _SEPARATOR.split(body, maxsplit=1)[0], False


def _bare_body(body: str) -> str:
    """Return the text of a record without brackets."""
    inner = _SEPARATOR.split(body, maxsplit=1)[0].strip()
    surplus = inner.count(")") - inner.count("(")
    end = len(inner)
    while end and surplus > 0 and (inner[end - 1] == ")" or inner[end - 1].isspace()):
        end -= 1
        surplus -= inner[end] == ")"
    return inner[:end].rstrip()


def split_fields(body: str) -> tuple[tuple[str, ...], bool]:
    """Return the fields after the kind, and whether their delimiters are not those asked for."""
    text = body.strip()
    parts = _DELIMITER.split(text)
    is_loose = len(_AS_ASKED.findall(text)) != len(parts) - 1
    if len(parts) < 3:
        loose = _LOOSE_DELIMITER.split(text)
        if len(loose) > len(parts):
            parts, is_loose = loose, True
    fields = [part.strip() for part in parts]
    # The record begins with the delimiter after its kind.
    return tuple(fields[1:] if fields and not fields[0] else fields), is_loose
