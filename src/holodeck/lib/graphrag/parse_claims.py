"""A model's claims reply → claims."""

from __future__ import annotations

import re

from holodeck.lib.contracts import Claim
from holodeck.lib.graphrag.names import tidy_name
from holodeck.lib.graphrag.records import split_fields, without_end_marker
from holodeck.lib.graphrag.reply_text import answer_of
from holodeck.lib.graphrag.untrusted import restored

__all__ = ["parse_claims"]

_FIELDS = (
    "subject",
    "object",
    "type",
    "status",
    "start_date",
    "end_date",
    "description",
    "source_text",
)
_BETWEEN = re.compile(r"##|\n(?=\s*\()")


def parse_claims(reply: str) -> list[Claim]:
    """Return the claims of one reply; a record without a subject or a description is none."""
    found = []
    for record in _BETWEEN.split(without_end_marker(answer_of(reply))):
        body = record.strip().removeprefix("(")
        body = body[:-1] if body.endswith(")") else body
        parts, _ = split_fields(body)
        fields = [_known(restored(part)) for part in parts]
        fields += [""] * (len(_FIELDS) - len(fields))
        claim = Claim(**dict(zip(_FIELDS, fields, strict=False)))
        if claim.subject and claim.description:
            found.append(claim)
    return found


def _known(field: str) -> str:
    """Return a field; the model writes NONE for what it does not know."""
    plain = tidy_name(field)
    return "" if plain.strip("*").upper() == "NONE" else plain
