"""A model's extraction reply → entities and relationships, tolerant of how real models write.

One reply is parsed at a time; gleanings are replies of their own. Every record that begins in a
reply is either read or dropped and counted by its reason; what was mended on the way is counted
too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.graphrag.names import absurdity, name_key, tidy_name
from holodeck.lib.graphrag.records import RawRecord, find_records, has_end_marker, is_broken_off
from holodeck.lib.graphrag.reply_text import answer_of, read_answer
from holodeck.lib.graphrag.untrusted import restored

__all__ = ["ParsedReply", "RecordReader", "answer_of", "join_extractions", "parse_extraction"]

_WEIGHT = re.compile(
    r"[^\d]{0,40}?(-?\d{1,9}(?:\.\d{1,9})?)(?:\s*(?:/|out of|of)\s*\d+)?[^\d]{0,20}"
)
_BARE_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d+)?")
_PLACEHOLDER = re.compile(r"<\w+>")
_QUOTE_PAIRS = ('""', "''", "“”", "‘’")
_GREATEST_WEIGHT = 100.0
_LONGEST_TYPE = 40

Parsed = Entity | Relationship


@dataclass(frozen=True, kw_only=True)
class ParsedReply:
    """What one reply says.

    Attributes:
        seen: Records that begin in it: those of ``extraction`` and those that it dropped.
        is_ended: It holds the end marker.
        is_cut: It breaks off in the middle of a record.
        is_unfinished: It breaks off among thoughts.
    """

    extraction: Extraction
    seen: int = 0
    is_ended: bool = False
    is_cut: bool = False
    is_unfinished: bool = False


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
        self._placeholders: frozenset[str] = frozenset()
        raws = find_records(prompt)
        found = [self._record(raw, _Tally()) for raw in raws]
        patterns = [part for raw in raws for part in raw.fields if _PLACEHOLDER.fullmatch(part)]
        self._placeholders = frozenset(name_key(part) for part in patterns)
        echoes = [each for each in found if not isinstance(each, str)]
        self._echoes = frozenset(map(_signature, echoes))
        self._echoed_names = frozenset(_name_keys(each) for each in echoes)

    def read(self, reply: str, text: str = "") -> ParsedReply:
        """Return the records of one reply.

        Args:
            reply: What the model wrote.
            text: The text that it read: an example of the prompt that is in it is no echo.
        """
        answer = read_answer(reply)
        raws = find_records(answer.text)
        tally = _Tally()
        tally.repairs.update(answer.repairs)
        records: list[Parsed] = []
        for raw in raws:
            record = self._record(raw, tally)
            if isinstance(record, str):
                tally.dropped[record] += 1
            elif any(name_key(name) in self._placeholders for name in _names(record)):
                tally.dropped[f"{raw.kind} with a name of the prompt's pattern"] += 1
            elif self._is_echo(record, text):
                tally.dropped["example of the prompt repeated"] += 1
            else:
                records.append(record)
        is_ended = has_end_marker(answer.text)
        return ParsedReply(
            extraction=Extraction(
                entities=tuple(r for r in records if isinstance(r, Entity)),
                relationships=tuple(r for r in records if isinstance(r, Relationship)),
                dropped=dict(tally.dropped),
                repairs=dict(tally.repairs),
            ),
            seen=len(raws),
            is_ended=is_ended,
            is_cut=is_broken_off(answer.text),
            is_unfinished=answer.is_unfinished,
        )

    def _is_echo(self, record: Parsed, text: str) -> bool:
        # Names first: they are short, and hardly any record has those of an example.
        if _name_keys(record) not in self._echoed_names or _signature(record) not in self._echoes:
            return False
        said = name_key(text)
        return not all(name_key(name) in said for name in _names(record))

    def _record(self, raw: RawRecord, tally: _Tally) -> Parsed | str:
        """Return the record, or the reason why it is none."""
        is_typed = name_key(raw.kind) in self._types
        if raw.kind not in ("entity", "relationship") and not is_typed:
            return "record of an unknown kind"
        if raw.is_cut:
            return f"{'entity' if is_typed else raw.kind} cut off in the middle"
        fields = [restored(part) for part in raw.fields]
        if is_typed:
            tally.repairs["type in the place of the kind"] += 1
            fields.insert(1, raw.kind)
        read = _relationship if raw.kind == "relationship" else _entity
        record = read(fields, self._types, tally)
        if not isinstance(record, str):
            tally.repairs.update(raw.repairs)
        return record


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
    return Entity(title=name, type=tidy_name(kind).casefold(), description=_prose(description))


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
    description, weight = _weighed(fields[2:], tally)
    return Relationship(
        source=source, target=target, description=_prose(description), weight=weight
    )


def _weighed(fields: Sequence[str], tally: _Tally) -> tuple[Sequence[str], float]:
    """Return the fields of the description, and the weight, which is 1 where there is none."""
    if len(fields) > 2:
        tally.repairs["extra field"] += 1
    # The number is last; where a field more follows it, it is the last field that is a number.
    places = [len(fields) - 1] if len(fields) > 1 else []
    places += [
        at for at in reversed(range(len(fields) - 1)) if _BARE_NUMBER.fullmatch(_bare(fields[at]))
    ]
    if len(fields) == 1 and _BARE_NUMBER.fullmatch(_bare(fields[0])):
        places = [0]
    for at in places:
        found = _WEIGHT.fullmatch(_bare(fields[at]))
        if found is not None:
            if not _BARE_NUMBER.fullmatch(_bare(fields[at])):
                tally.repairs["number among words"] += 1
            return [*fields[:at], *fields[at + 1 :]], _in_bounds(float(found.group(1)), tally)
    tally.repairs["missing weight"] += 1
    return fields, 1.0


def _bare(text: str) -> str:
    return text.strip("\"'“”` \t\n()[]{}*")


def _in_bounds(weight: float, tally: _Tally) -> float:
    """Keep a weight usable: a relationship that was stated is there, and none outweighs all."""
    if weight <= 0:
        tally.repairs["weight out of range"] += 1
        return 1.0
    if weight > _GREATEST_WEIGHT:
        tally.repairs["weight out of range"] += 1
        return _GREATEST_WEIGHT
    return weight


def _prose(fields: Iterable[str]) -> str:
    plain = " ".join(" ".join(part.split()) for part in fields).strip()
    if len(plain) > 1 and plain[0] + plain[-1] in _QUOTE_PAIRS:
        return plain[1:-1].strip()
    return plain


def _names(record: Parsed) -> tuple[str, ...]:
    return (record.title,) if isinstance(record, Entity) else (record.source, record.target)


def _name_keys(record: Parsed) -> tuple[str, ...]:
    return tuple(map(name_key, _names(record)))


def _signature(record: Parsed) -> tuple[str, ...]:
    kind = "entity" if isinstance(record, Entity) else "relationship"
    return (kind, *_name_keys(record), name_key(record.description))


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
