"""Text units → which entities, relationships and claims each of them states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.tables import read_columns, read_rows, write_rows

__all__ = ["link_text_units"]


async def link_text_units(build: Build) -> None:
    """Fill the ids of ``text_units`` in from the tables that name text units."""
    entities = _by_unit(build.output, "entities")
    relationships = _by_unit(build.output, "relationships")
    claims: dict[str, list[str]] = defaultdict(list)
    if build.claims is not None:
        for row in read_rows(build.output, "covariates", ["id", "text_unit_id"]):
            claims[row["text_unit_id"]].append(row["id"])
    units = [
        {
            **unit,
            "entity_ids": entities.get(unit["id"], []),
            "relationship_ids": relationships.get(unit["id"], []),
            "covariate_ids": claims.get(unit["id"], []),
        }
        for unit in read_rows(build.output, "text_units")
    ]
    write_rows(build.output, "text_units", units)


def _by_unit(folder: Path, table: str) -> Mapping[str, list[str]]:
    """Return text unit id → ids of the rows that are from it, in the order of the table."""
    found: dict[str, list[str]] = defaultdict(list)
    columns = read_columns(folder, table, ["id", "text_unit_ids"])
    for key, units in zip(columns["id"], columns["text_unit_ids"], strict=True):
        for unit in units:
            found[unit].append(key)
    return found
