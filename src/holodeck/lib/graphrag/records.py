"""Where the records of an extraction reply begin and end, and what their fields are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holodeck.lib.replies.marks import BAR, DELIMITER, END, GREATER, LESS, end_marker

__all__ = [
    "KINDS",
    "RawRecord",
    "closed_body",
    "find_records",
    "split_fields",
    "surplus",
    "without_brackets",
]

_LOOSE = rf"(?:{LESS}\s*{BAR}{{1,2}}\s*{GREATER}?|{BAR}{{1,2}}\s*{GREATER}|{BAR}{{1,2}})"
_DELIMITER = re.compile(DELIMITER)
_LOOSE_DELIMITER = re.compile(rf"{DELIMITER}|{_LOOSE}")
_AS_ASKED = re.compile(r"<\|>")
_OPEN, _CLOSE = "([{（［｛【", ")]}）］｝】"
_OPENING, _CLOSING = rf"[{re.escape(_OPEN)}]", rf"[{re.escape(_CLOSE)}]"
_QUOTES = " \t\"'“”‘’„‟«»‹›＂`*\\"
_QUOTE = r"(?:[\"'“”‘’„‟«»‹›＂`*\\]|&quot;){0,6}"
# Repetitions are bounded, here and below, so that no reply takes quadratic time to read.
_START = re.compile(
    rf"(?P<open>{_OPENING}{{0,4}})\s{{0,9}}(?P<quote>{_QUOTE})"
    rf"(?<!\w)(?P<kind>entity|entities|relationships?|relations?){_QUOTE}\s*"
    rf"(?:(?={DELIMITER}|{_LOOSE})|[:：](?=[^\n<>|]{{1,200}}{DELIMITER}))",
    re.IGNORECASE,
)
# A record that calls itself something else, or that begins with its first field.
_OTHER_START = re.compile(
    rf"(?P<open>{_OPENING})\s{{0,9}}(?P<quote>{_QUOTE})"
    rf"(?P<kind>(?>[^\n<>|＜＞﹤｜]{{1,200}}))(?={DELIMITER})"
)
KINDS = {
    "entity": "entity",
    "entities": "entity",
    "relationship": "relationship",
    "relationships": "relationship",
    "relation": "relationship",
    "relations": "relationship",
}
_LIST_MARK = r"(?:[-*•]|\d{1,3}[.)])"
_BEFORE_BARE = re.compile(rf"(?:\A|[\n)\]}}）#])[ \t]*{_LIST_MARK}?[ \t*`]*$")
_BEFORE_OTHER = re.compile(rf"(?:\A|\n|##|[)\]}}）][,;]?)[ \t]*{_LIST_MARK}?[ \t*`]*$")
_ENDS_IN_DELIMITER = re.compile(rf"(?:{DELIMITER}|\|>?)\s*$")
_DELIMITER_ENDS = tuple(">＞﹥;|｜")
_ENDS_IN_END = re.compile(rf"(?:{END.pattern})\s*\Z", END.flags)
_LEADING_BREAK = re.compile(r"\n\s*$")
# What may follow the bracket that closes a record: a separator, the end of the line, a remark, or
# where the next record begins its list mark.
_AFTER_CLOSE = re.compile(
    rf"{_CLOSING}{{0,4}}(?:[ \t*_`\"'“”’»,;.|]|\\n|</?\w{{1,15}}\s?/?>){{0,20}}"
    rf"(?:##|\n|\Z|{_LIST_MARK}\s{{0,9}}\Z|(?:#|//|--|<!--)[^\n]{{0,200}}(?:\n|\Z))"
)
# The number that a relationship ends with closes it, whatever is said behind it.
_WEIGHT_CLOSE = re.compile(
    rf"{DELIMITER}\s*[\"'“]?\d{{1,9}}(?:\.\d{{1,9}})?[\"'”]?\s*({_CLOSING})(?!\s*{DELIMITER})"
)
_OPENED = re.compile(rf"{_OPENING}\s*[\"'“]?\w*\Z")
_SEPARATOR = re.compile(r"##|\n[ \t\r]{0,99}\n")
_NEXT_MARK = re.compile(rf"\n[ \t]*{_LIST_MARK}[ \t*`]*\Z")


@dataclass(frozen=True, kw_only=True)
class RawRecord:
    """One record as it stands in a reply.

    Attributes:
        kind: ``entity``, ``relationship``, or what the model wrote in its place.
        fields: What follows the kind.
        is_cut: It was opened and the reply ends before it is closed.
        place: Where it begins.
    """

    kind: str
    fields: tuple[str, ...]
    repairs: tuple[str, ...] = ()
    is_cut: bool = False
    place: int = 0


def find_records(text: str) -> tuple[list[RawRecord], bool]:
    """Return the records of an answer, in order, and whether it breaks off.

    It breaks off where it ends inside a record, or between two, without the end marker.
    """
    starts = list(_starts(text))
    stops = [*(match.start() for match in starts[1:]), len(text)][: len(starts)]
    records = [_record(text, match, stop) for match, stop in zip(starts, stops, strict=True)]
    is_broken_off = _is_broken_off(text, starts)
    if is_broken_off and all(not each.is_cut for each in records[:-1]):
        return records, True
    # Where brackets are left open all over, an open one at the end is no sign of a cut.
    whole = [replace(each, is_cut=False) if each.is_cut else each for each in records]
    return whole, is_broken_off


def _is_broken_off(text: str, starts: Sequence[re.Match[str]]) -> bool:
    if not starts or not starts[-1].group("open") or end_marker(text) is not None:
        return False
    body = text[starts[-1].end() :]
    inner, is_closed = _inside(body, _kind(starts[-1]))
    return not is_closed or _OPENED.search(body[len(inner) + 1 :]) is not None


def _starts(text: str) -> Iterator[re.Match[str]]:
    named = list(_START.finditer(text))
    taken = {match.start() for match in named}
    others = [match for match in _OTHER_START.finditer(text) if match.start() not in taken]
    for match in sorted([*named, *others], key=re.Match.start):
        start = match.start("open" if match.group("open") else "quote")
        before = text[max(0, start - 80) : start]
        if _is_field(match, before) or surplus(match.group("kind")) < 0:
            continue
        if _kind(match) not in KINDS:
            is_start = _BEFORE_OTHER.search(before) is not None
        else:
            is_dressed = match.group("open") or match.group("quote")
            is_start = bool(is_dressed) or _BEFORE_BARE.search(before) is not None
        if is_start:
            yield match


def _is_field(match: re.Match[str], before: str) -> bool:
    """Tell whether this is a field, in the middle of a record."""
    if before.rstrip()[-1:] not in _DELIMITER_ENDS:
        return False  # as nearly always
    if _ENDS_IN_DELIMITER.search(before) is None or _ENDS_IN_END.search(before):
        return False
    is_dressed = match.group("open") and match.group("quote")
    return not (is_dressed and _LEADING_BREAK.search(before))


def _kind(match: re.Match[str]) -> str:
    kind = without_brackets(match.group("kind")).strip(_QUOTES)
    return KINDS.get(kind.casefold(), kind)


def _record(text: str, match: re.Match[str], stop: int) -> RawRecord:
    body = text[match.end() : stop]
    marker = end_marker(body)
    body = body if marker is None else body[: marker.start()]
    body = _NEXT_MARK.sub("", body)
    kind = _kind(match)
    repairs = []
    is_cut = False
    if match.group("open"):
        inner, is_closed = _inside(body, kind)
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
    return RawRecord(
        kind=kind, fields=fields, repairs=tuple(repairs), is_cut=is_cut, place=match.start()
    )


def _inside(body: str, kind: str) -> tuple[str, bool]:
    """Return what stands before the bracket that closes a record, and whether there is one.

    It is the first bracket that closes more than the record's own text opened and that ends a
    line or stands before a separator; else the last one that does.
    """
    depth = 1
    last = -1
    weighed = _WEIGHT_CLOSE.search(body) if kind == "relationship" else None
    if weighed is not None:
        return body[: weighed.start(1)], True
    for found in re.finditer(f"{_OPENING}|{_CLOSING}", body):
        at = found.start()
        depth += 1 if found.group() in _OPEN else -1
        if found.group() in _CLOSE and _AFTER_CLOSE.match(body, at + 1):
            last = at
            if depth <= 0:
                return body[:at], True
    if last >= 0:
        return body[:last], True
    return _SEPARATOR.split(body, maxsplit=1)[0], False


def surplus(text: str) -> int:
    """Return how many brackets a text opens and does not close; below 0 it closes more."""
    opened = sum(text.count(mark) for mark in _OPEN)
    return opened - sum(text.count(mark) for mark in _CLOSE)


def without_brackets(text: str) -> str:
    """Return a record's first field without the further brackets that the record begins with."""
    while surplus(text) > 0 and text[0] in _OPEN:
        text = text[1:].lstrip()
    return text


def closed_body(body: str) -> tuple[str, bool]:
    """Return what a record holds that was opened with a bracket, and whether it is closed."""
    return _inside(body, "")


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
