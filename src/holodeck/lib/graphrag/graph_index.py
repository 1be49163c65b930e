"""An index opened for search: the tables of one generation, held in memory, and its vectors."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck.errors import TableNotFoundError
from holodeck.lib.contracts import (
    Claim,
    ContextClaim,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    ContextTextUnit,
)
from holodeck.lib.documents import Place
from holodeck.lib.graphrag.tables import read_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PROMPTS_FILE", "Community", "GraphIndex", "Vectors", "open_index"]

PROMPTS_FILE = "prompts.json"
"""The search prompts, kept beside the tables so that a search needs no library."""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """A vector table: ``matrix[i]`` belongs to ``ids[i]``; rows have length 1."""

    ids: tuple[str, ...]
    matrix: NDArray[np.float32]

    def nearest(self, query: NDArray[np.float32], count: int) -> list[tuple[str, float]]:
        """Return ids and cosines of the ``count`` nearest, exactly; ties by id."""
        scores = self.matrix @ query
        order = sorted(range(len(self.ids)), key=lambda i: (-scores[i], self.ids[i]))
        return [(self.ids[i], float(scores[i])) for i in order[:count]]


@dataclass(frozen=True, kw_only=True)
class Community:
    """A community of the opened index; level 0 is the broadest."""

    number: int
    level: int
    entity_ids: tuple[str, ...]
    text_unit_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GraphIndex:
    """One generation of an index.

    Attributes:
        entities: Entity id → record.
        units_of_entity: Entity id → ids of the text units it occurs in.
        entity_of_title: Title → entity id.
        edges: Relationship id → record.
        units_of_edge: Relationship id → ids of the text units it is stated in.
        edges_of_entity: Entity title → ids of its relationships, in table order.
        claims: Entity title → claims about it, in table order.
        text_units: Text unit id → record.
        places: Text unit id → every place where it stands.
        communities: Community number → record.
        reports: Community number → report.
        entity_vectors: Of title and description; ``None`` when there are no entities.
        unit_vectors: Of the text units' texts.
        prompts: The search prompts, by our names.
    """

    entities: Mapping[str, ContextEntity]
    units_of_entity: Mapping[str, Sequence[str]]
    entity_of_title: Mapping[str, str]
    edges: Mapping[str, ContextRelationship]
    edge_ranks: Mapping[str, int]
    units_of_edge: Mapping[str, Sequence[str]]
    edges_of_entity: Mapping[str, Sequence[str]]
    claims: Mapping[str, Sequence[ContextClaim]]
    text_units: Mapping[str, ContextTextUnit]
    places: Mapping[str, Sequence[Place]]
    communities: Mapping[int, Community]
    reports: Mapping[int, ContextReport]
    entity_vectors: Vectors | None
    unit_vectors: Vectors | None
    prompts: Mapping[str, str] = field(default_factory=dict)

    @property
    def deepest_level(self) -> int:
        """The finest level there is; -1 without communities."""
        return max((community.level for community in self.communities.values()), default=-1)

    def finest_communities(self, level: int) -> dict[str, int]:
        """Return, for every entity that has one, its finest community of at most ``level``."""
        finest: dict[str, int] = {}
        for community in sorted(self.communities.values(), key=lambda c: c.level):
            if community.level <= level:
                finest |= dict.fromkeys(community.entity_ids, community.number)
        return finest


def open_index(tables: Path, vectors: Path) -> GraphIndex:
    """Open the tables and vectors of a generation.

    Raises:
        TableNotFoundError: A table is missing or damaged.
    """
    entities = read_rows(tables, "entities")
    edges = read_rows(tables, "relationships")
    edges_of_entity: dict[str, list[str]] = defaultdict(list)
    for row in edges:
        for title in dict.fromkeys((row["source"], row["target"])):
            edges_of_entity[title].append(row["id"])
    return GraphIndex(
        entities={row["id"]: _entity(row) for row in entities},
        units_of_entity={row["id"]: row["text_unit_ids"] or () for row in entities},
        entity_of_title={row["title"]: row["id"] for row in entities},
        edges={row["id"]: _edge(row) for row in edges},
        edge_ranks={row["id"]: int(row["combined_degree"] or 0) for row in edges},
        units_of_edge={row["id"]: row["text_unit_ids"] or () for row in edges},
        edges_of_entity=edges_of_entity,
        claims=_claims(tables),
        text_units={
            row["id"]: ContextTextUnit(number=row["human_readable_id"], text=row["text"])
            for row in read_rows(tables, "text_units", ["id", "human_readable_id", "text"])
        },
        places=_places(tables),
        communities={row["community"]: _community(row) for row in read_rows(tables, "communities")},
        reports={row["community"]: _report(row) for row in read_rows(tables, "community_reports")},
        entity_vectors=_vectors(vectors, "entity_description"),
        unit_vectors=_vectors(vectors, "text_unit_text"),
        prompts=_prompts(tables),
    )


def _entity(row: Mapping[str, Any]) -> ContextEntity:
    return ContextEntity(
        number=row["human_readable_id"],
        title=row["title"],
        description=row["description"] or "",
        type=row["type"] or "",
        degree=int(row["degree"] or 0),
    )


def _edge(row: Mapping[str, Any]) -> ContextRelationship:
    return ContextRelationship(
        number=row["human_readable_id"],
        source=row["source"],
        target=row["target"],
        description=row["description"] or "",
        weight=row["weight"] or 0.0,
    )


def _community(row: Mapping[str, Any]) -> Community:
    return Community(
        number=row["community"],
        level=row["level"],
        entity_ids=tuple(row["entity_ids"] or ()),
        text_unit_ids=tuple(row["text_unit_ids"] or ()),
    )


def _report(row: Mapping[str, Any]) -> ContextReport:
    return ContextReport(
        number=row["community"],
        title=row["title"],
        content=row["full_content"],
        rank=row["rank"] or 0.0,
        summary=row["summary"] or "",
    )


def _claims(tables: Path) -> dict[str, list[ContextClaim]]:
    """Return the claims by subject; an index that was built without them has none."""
    claims: dict[str, list[ContextClaim]] = defaultdict(list)
    if (tables / "covariates.parquet").exists():
        for row in read_rows(tables, "covariates"):
            claim = Claim(
                subject=row["subject_id"],
                object=row["object_id"] or "",
                type=row["type"] or "",
                status=row["status"] or "",
                start_date=row["start_date"] or "",
                end_date=row["end_date"] or "",
                description=row["description"] or "",
                source_text=row["source_text"] or "",
            )
            number = row["human_readable_id"]
            claims[claim.subject].append(ContextClaim(number=number, claim=claim))
    return claims


def _places(tables: Path) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = defaultdict(list)
    for row in read_rows(tables, "sources"):
        place = Place(path=row["path"], page=row["page"], row=row["row"])
        places[row["text_unit_id"]].append(place)
    return places


def _vectors(folder: Path, table: str) -> Vectors | None:
    """Return a vector table; an index without rows for it has none."""
    if not (folder / f"{table}.lance").is_dir():
        return None
    import lancedb
    import numpy as np

    try:
        content = lancedb.connect(str(folder)).open_table(table).to_arrow()
    except (OSError, ValueError, RuntimeError) as error:
        raise TableNotFoundError(
            f"the vectors {table!r} in {folder} cannot be read ({type(error).__name__}): build the "
            "index again with 'holodeck index --force'"
        ) from error
    column = content["vector"].combine_chunks()
    matrix = np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), -1)
    return Vectors(ids=tuple(content["id"].to_pylist()), matrix=matrix)


def _prompts(tables: Path) -> dict[str, str]:
    path = tables / PROMPTS_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableNotFoundError(
            f"the search prompts {path} cannot be read ({type(error).__name__}): build the index "
            "again with 'holodeck index --force'"
        ) from error
    return {str(name): str(text) for name, text in content.items()}
