"""Text units → claims about entities, where they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holodeck.lib.contracts import Claim, ClaimSteps, FoundClaims
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.ask_units import ask_units
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.failures import warning_of_losses
from holodeck.lib.graphrag.names import name_key
from holodeck.lib.graphrag.tables import read_rows, write_rows

__all__ = ["extract_claims"]


async def extract_claims(build: Build) -> None:
    """Write ``covariates`` from ``text_units``; a subject is the entity of that name."""
    if build.claims is None:
        return
    units = read_rows(build.output, "text_units", ["id", "text"])
    entities = read_rows(build.output, "entities", ["title"])
    titles = {name_key(row["title"]): row["title"] for row in entities}
    found = await _claims(build, build.claims, units)
    rows = {
        row["id"]: row
        for unit, claims in zip(units, found, strict=True)
        for row in _rows(unit["id"], claims, titles)
    }
    build.counts["claims"] = len(rows)
    write_rows(
        build.output,
        "covariates",
        [{**rows[key], "human_readable_id": number} for number, key in enumerate(sorted(rows))],
    )


async def _claims(
    build: Build, steps: ClaimSteps, units: Sequence[Mapping[str, Any]]
) -> list[Sequence[Claim]]:
    """Return the claims of each text unit; those of failed ones are left out and counted."""
    found = await ask_units(build, units, steps.claims, what="claims", step="claims")
    _count(build, [each for each in found if each is not None])
    return [each.claims if each is not None else () for each in found]


def _count(build: Build, found: Sequence[FoundClaims]) -> None:
    """Count what was mended and dropped; warn where that is much."""
    dropped: Counter[str] = Counter()
    for each in found:
        build.repairs.update(f"claims: {repair}" for repair in Counter(each.repairs).elements())
        dropped.update(each.dropped)
    build.dropped.update(dropped)
    kept = sum(len(each.claims) for each in found)
    build.warnings.extend(warning_of_losses(dropped, kept + dropped.total(), "claims"))


def _rows(
    text_unit_id: str, claims: Sequence[Claim], titles: Mapping[str, str]
) -> list[dict[str, Any]]:
    return [
        {
            "id": content_id("claim", text_unit_id, claim.subject, claim.object, claim.description),
            "covariate_type": "claim",
            "type": claim.type,
            "description": claim.description,
            "subject_id": titles.get(name_key(claim.subject), claim.subject),
            "object_id": titles.get(name_key(claim.object), claim.object) or "NONE",
            "status": claim.status,
            "start_date": claim.start_date or "NONE",
            "end_date": claim.end_date or "NONE",
            "source_text": claim.source_text,
            "text_unit_id": text_unit_id,
        }
        for claim in claims
    ]
