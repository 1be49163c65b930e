"""A model's extraction reply → entities and relationships, tolerant of how real models write.

One reply is parsed at a time; gleanings are replies of their own. What a record cannot give is
dropped and counted by its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from holodeck.lib.contracts import Claim, Entity, Extraction, Relationship
from holodeck.lib.graphrag.names import tidy_name

__all__ = ["answer_of", "join_extractions", "parse_claims", "parse_extraction"]

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r".*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^\s*```[\w-]*\s*$", re.MULTILINE)
_END = re.compile(r"<\s*\|\s*COMPLETE\s*\|\s*>", re.IGNORECASE)
_DELIMITER = re.compile(r"<\s*\|{1,2}\s*>")
_RECORD_START = re.compile(
    r"""\(?\s*["'“]?(entity|relationship)["'”]?\s*(?=<\s*\|{1,2}\s*>)""", re.I
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LONGEST_NAME = 200


def answer_of(reply: str) -> str:
    """Return a reply without the thoughts before it and the fences around it."""
    text = _THOUGHTS.sub("", reply)
    text = _THOUGHT_END.sub("", text)
    return _FENCE.sub("", text).strip()


def parse_extraction(reply: str) -> Extraction:
    """Return the records of one reply."""
    text = _END.sub("", answer_of(reply))
    starts = [match.start() for match in _RECORD_START.finditer(text)]
    entities: list[Entity] = []
    relationships: list[Relationship] = []
    dropped: Counter[str] = Counter()
    for start, end in pairwise([*starts, len(text)]):
        record = _record(text[start:end])
        if isinstance(record, Entity):
            entities.append(record)
        elif isinstance(record, Relationship):
            relationships.append(record)
        else:
            dropped[record] += 1
    return Extraction(
        entities=tuple(entities), relationships=tuple(relationships), dropped=dict(dropped)
    )


def join_extractions(extractions: Iterable[Extraction]) -> Extraction:
    """Return several passes over one text as one."""
    parts = list(extractions)
    dropped: Counter[str] = Counter()
    for part in parts:
        dropped.update(part.dropped)
    return Extraction(
        entities=tuple(entity for part in parts for entity in part.entities),
        relationships=tuple(edge for part in parts for edge in part.relationships),
        dropped=dict(dropped),
    )


def _record(text: str) -> Entity | Relationship | str:
    """Return the record, or the reason why it is none."""
    body = re.sub(r"[\s#]+$", "", text.strip())
    opened = body.startswith("(")
    body = body.removeprefix("(")
    # The bracket that closes the record goes; one that belongs to the last field stays.
    if body.endswith(")") and (opened or body.count(")") > body.count("(")):
        body = body[:-1]
    fields = [field.strip() for field in _DELIMITER.split(body)]
    kind = fields[0].strip("\"'“” ").casefold()
    return _entity(fields) if kind == "entity" else _relationship(fields)


def _entity(fields: list[str]) -> Entity | str:
    if len(fields) < 3:
        return "entity with too few fields"
    title = tidy_name(fields[1])
    if not title:
        return "entity without a name"
    if len(title) > _LONGEST_NAME:
        return f"entity with a name of over {_LONGEST_NAME} characters"
    description = " ".join(fields[3:])
    return Entity(
        title=title, type=tidy_name(fields[2]).casefold(), description=_unquoted(description)
    )


def _relationship(fields: list[str]) -> Relationship | str:
    if len(fields) < 4:
        return "relationship with too few fields"
    source, target = tidy_name(fields[1]), tidy_name(fields[2])
    if not source or not target:
        return "relationship without an end"
    if max(len(source), len(target)) > _LONGEST_NAME:
        return f"relationship with a name of over {_LONGEST_NAME} characters"
    number = _NUMBER.search(fields[-1]) if len(fields) > 4 else None
    description = fields[3:-1] if number else fields[3:]
    return Relationship(
        source=source,
        target=target,
        description=_unquoted(" ".join(description)),
        weight=max(float(number.group()), 0.0) if number else 1.0,
    )


def _unquoted(text: str) -> str:
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
        return plain[1:-1].strip()
    return plain


def parse_claims(reply: str) -> list[Claim]:
    """Return the claims of one reply; a record without a subject or a description is none."""
    text = _END.sub("", answer_of(reply))
    found = []
    for record in re.split(r"##|\n(?=\s*\()", text):
        body = record.strip().removeprefix("(")
        body = body[:-1] if body.endswith(")") else body
        fields = [_known(field) for field in _DELIMITER.split(body)]
        fields += [""] * (len(_CLAIM_FIELDS) - len(fields))
        claim = Claim(**dict(zip(_CLAIM_FIELDS, fields, strict=False)))
        if claim.subject and claim.description:
            found.append(claim)
    return found


_CLAIM_FIELDS = (
    "subject",
    "object",
    "type",
    "status",
    "start_date",
    "end_date",
    "description",
    "source_text",
)


def _known(field: str) -> str:
    """Return a field; the model writes NONE for what it does not know."""
    plain = tidy_name(field)
    return "" if plain.strip("*").upper() == "NONE" else plain
