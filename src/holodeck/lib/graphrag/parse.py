"""A model's extraction reply → entities and relationships, tolerant of how real models write.

One reply is parsed at a time; gleanings are replies of their own. Every record that begins in a
reply is either read or dropped and counted by its reason; what was mended on the way is counted
too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.graphrag.names import absurdity, name_key, tidy_name
from holodeck.lib.graphrag.odd_records import find_odd_records
from holodeck.lib.graphrag.records import RawRecord, find_records
from holodeck.lib.graphrag.weights import split_weight
from holodeck.lib.replies.marks import end_marker, without_end_marker
from holodeck.lib.replies.reply_text import ReplyForm, answer_of, read_answer
from holodeck.lib.replies.untrusted import Neutraliser, restored

__all__ = [
    "ParsedReply",
    "RecordReader",
    "answer_of",
    "join_extractions",
    "parse_extraction",
    "prose",
]

_PLACEHOLDER = re.compile(r"<(\w+)>")
_NUMBER = re.compile(r"[\"'“” ]*\d{1,3}(?:\.\d+)?[\"'“” ]*")
_QUOTE_PAIRS = ('""', "''", "“”", "‘’")
_LONGEST_TYPE = 40
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t"}

Parsed = Entity | Relationship


@dataclass(frozen=True, kw_only=True)
class ParsedReply(ReplyForm):
    """What one reply says."""

    extraction: Extraction


@dataclass
class _Tally:
    """What happened to the records of one reply."""

    dropped: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)


class RecordReader:
    """Reads the replies to one prompt.

    Args:
        prompt: The prompt as a template: the records in it are its examples and its pattern, and
            none of a document.
        entity_types: The types that were asked for.
    """

    def __init__(self, prompt: str = "", entity_types: Iterable[str] = ()) -> None:
        self._types = frozenset(name_key(kind) for kind in entity_types)
        self._sections = Neutraliser(prompt)
        raws, _ = find_records(prompt)
        patterns = {name for raw in raws for part in raw.fields for name in _pattern(part)}
        self._placeholders = frozenset(name_key(name) for name in patterns)
        labels = "|".join(re.escape(name) for name in sorted(patterns)) or "(?!)"
        self._label = re.compile(rf"\A(?:{labels})\s{{0,3}}[:=]\s{{0,3}}(?=\S)", re.IGNORECASE)
        found = [self._record(raw, _Tally()) for raw in raws]
        self._examples = frozenset(
            name_key(name) for each in found if not isinstance(each, str) for name in _names(each)
        )

    def read(self, reply: str, text: str = "") -> ParsedReply:
        """Return the records of one reply.

        Args:
            reply: What the model wrote.
            text: The text that it read: an example of the prompt that is in it is no echo.
        """
        answer = read_answer(reply)
        plain = _unescaped(answer.text)
        raws, is_broken_off = find_records(plain)
        raws = raws or find_odd_records(plain)
        tally = _Tally(repairs=Counter(answer.repairs))
        tally.repairs.update({"escapes resolved": 1} if plain != answer.text else {})
        end = self._end(plain)
        records: list[Parsed] = []
        for raw in raws:
            record = self._record(raw, tally) if raw.place < end else _BEYOND
            reason = record if isinstance(record, str) else self._no_fact(record, raw.kind, text)
            if isinstance(record, str) or reason is not None:
                tally.dropped[str(reason)] += 1
            else:
                records.append(record)
        return ParsedReply(
            extraction=Extraction(
                entities=tuple(r for r in records if isinstance(r, Entity)),
                relationships=tuple(r for r in records if isinstance(r, Relationship)),
                dropped=dict(tally.dropped),
                repairs=dict(tally.repairs),
            ),
            seen=len(raws),
            dropped=dict(tally.dropped),
            is_ended=end_marker(plain) is not None,
            is_bare=not any(mark.isalnum() for mark in without_end_marker(plain)),
            is_cut=is_broken_off,
        )

    def _end(self, answer: str) -> int:
        """Return where a model that does not stop goes on with a text of its own making."""
        marker = end_marker(answer)
        return len(answer) if marker is None else self._sections.section_after(answer, marker.end())

    def _no_fact(self, record: Parsed, kind: str, text: str) -> str | None:
        """Return why a record that could be read is no fact of the text, or ``None``."""
        keys = {name_key(name) for name in _names(record)}
        if keys & self._placeholders:
            return f"{kind} with a name of the prompt's pattern"
        echoes = keys & self._examples
        if not echoes:
            return None
        # A name of an example is one of the text where each of its words is.
        said = name_key(text)
        is_said = all(word in said for key in echoes for word in key.split())
        return None if is_said else "example of the prompt repeated"

    def _record(self, raw: RawRecord, tally: _Tally) -> Parsed | str:
        """Return the record, or the reason why it is none."""
        kind, parts, repair = self._kind(raw)
        if kind is None:
            return "record of an unknown kind"
        if raw.is_cut:
            return f"{kind} cut off in the middle"
        fields = [restored(self._label.sub("", part)) for part in parts]
        read = _relationship if kind == "relationship" else _entity
        record = read(fields, self._types, tally)
        if not isinstance(record, str):
            tally.repairs.update([*raw.repairs, *([repair] if repair else [])])
        return record

    def _kind(self, raw: RawRecord) -> tuple[str | None, Sequence[str], str]:
        """Return what a record is, its fields, and what was mended to know it.

        Where a model left the kind out, or wrote it in another language, the fields tell: an entity
        has one of the types that were asked for, a relationship ends in a number.
        """
        every = [raw.kind, *raw.fields]
        ends_in_number = _NUMBER.fullmatch(every[-1]) is not None
        if raw.kind in ("entity", "relationship"):
            return raw.kind, raw.fields, ""
        if name_key(raw.kind) in self._types:
            return "entity", [*every[1:2], raw.kind, *every[2:]], "type in the place of the kind"
        if len(every) == 3 and name_key(every[1]) in self._types:
            return "entity", every, "missing kind"
        if len(every) == 4 and ends_in_number:
            return "relationship", every, "missing kind"
        if len(every) == 4 and name_key(every[2]) in self._types:
            return "entity", raw.fields, "kind by another name"
        if len(every) == 5 and ends_in_number:
            return "relationship", raw.fields, "kind by another name"
        return None, raw.fields, ""


_BEYOND = "record of a text that the model made up after its end"


def _pattern(field: str) -> list[str]:
    found = _PLACEHOLDER.fullmatch(field)
    return [] if found is None else [found[1]]


def _unescaped(answer: str) -> str:
    """Return an answer that was written as the text of a JSON string as what it says."""
    if "\\n" not in answer or "\n" in answer:
        return answer
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        content = None
    texts = [content, *(content.values() if isinstance(content, dict) else ())]
    found = [text for text in texts if isinstance(text, str)]
    if found:
        return max(found, key=len)
    return re.sub(r"\\([nrt\"])", lambda match: _ESCAPES.get(match[1], match[1]), answer)


def _entity(fields: Sequence[str], types: Collection[str], tally: _Tally) -> Entity | str:
    if len(fields) < 2:
        return "entity with too few fields"
    kind_at = _type_field(fields, types)
    name = tidy_name(" ".join(fields[:kind_at]))
    why_not = absurdity(name)
    if why_not is not None:
        return f"entity {why_not}"
    kind, description = fields[kind_at], fields[kind_at + 1 :]
    if len(fields) == 2 and name_key(kind) not in types and len(kind) > _LONGEST_TYPE:
        tally.repairs["missing field"] += 1
        kind, description = "", fields[kind_at:]
    elif len(fields) == 2:
        tally.repairs["missing field"] += 1
    elif len(fields) > 3:
        tally.repairs["extra field"] += 1
    return Entity(title=name, type=tidy_name(kind).casefold(), description=prose(description))


def _type_field(fields: Sequence[str], types: Collection[str]) -> int:
    """Return where the type stands; a delimiter inside the name moves it to the right."""
    if len(fields) > 3 and name_key(fields[1]) not in types:
        for at, part in enumerate(fields[2:-1], start=2):
            if name_key(part) in types:
                return at
    return 1


def _relationship(
    fields: Sequence[str], _types: Collection[str], tally: _Tally
) -> Relationship | str:
    if len(fields) < 3:
        return "relationship with too few fields"
    source, target = tidy_name(fields[0]), tidy_name(fields[1])
    if not source or not target:
        return "relationship without an end"
    why_not = absurdity(source) or absurdity(target)
    if why_not is not None:
        return f"relationship {why_not}"
    description, weight = split_weight(fields[2:], tally.repairs)
    return Relationship(source=source, target=target, description=prose(description), weight=weight)


def prose(fields: Iterable[str]) -> str:
    """Return fields as one text on one line, without the quotes around it."""
    plain = " ".join(" ".join(part.split()) for part in fields).strip()
    if len(plain) > 1 and plain[0] + plain[-1] in _QUOTE_PAIRS:
        return plain[1:-1].strip()
    return plain


def _names(record: Parsed) -> tuple[str, ...]:
    return (record.title,) if isinstance(record, Entity) else (record.source, record.target)


def parse_extraction(reply: str) -> Extraction:
    """Return the records of one reply, where the prompt is not known."""
    return RecordReader().read(reply).extraction


def join_extractions(extractions: Iterable[Extraction]) -> Extraction:
    """Return several passes over one text as one."""
    parts = list(extractions)
    dropped: Counter[str] = Counter()
    repairs: Counter[str] = Counter()
    for part in parts:
        dropped.update(part.dropped)
        repairs.update(part.repairs)
    return Extraction(
        entities=tuple(entity for part in parts for entity in part.entities),
        relationships=tuple(edge for part in parts for edge in part.relationships),
        dropped=dict(dropped),
        repairs=dict(repairs),
        incomplete=next((part.incomplete for part in parts if part.incomplete), None),
    )
