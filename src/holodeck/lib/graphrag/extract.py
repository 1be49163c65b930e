"""Text units → entities and relationships: ask for each, then merge by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from holodeck.errors import HolodeckError, IndexingError
from holodeck.lib.contracts import Extraction
from holodeck.lib.graphrag.build import Build, map_bounded
from holodeck.lib.graphrag.merge import MergedEntity, MergedRelationship, merge
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.tokens import count_tokens

__all__ = ["extract_graph"]

SUMMARY_THRESHOLD_TOKENS = 200
"""Joined descriptions up to this length are kept as they are; longer ones are summarised."""


async def extract_graph(build: Build) -> None:
    """Write ``entities`` and ``relationships`` from ``text_units``."""
    units = read_rows(build.output, "text_units", ["id", "text"])

    async def extract(unit: dict[str, Any]) -> Extraction:
        try:
            return await build.steps.extract(unit["text"])
        except HolodeckError as error:
            raise IndexingError(
                f"the entities of text unit {unit['id']} could not be extracted: {error}. What was "
                "paid for is kept: run 'holodeck index' again to go on"
            ) from error

    extractions = await map_bounded(extract, units, build, "extract")
    graph = merge(zip((unit["id"] for unit in units), extractions, strict=True))
    build.counts["merged_entities"] = graph.merged_spellings
    for reason, count in sorted(graph.dropped.items()):
        build.warnings.append(f"{count} extracted record(s) dropped: {reason}")

    entity_texts = await map_bounded(
        lambda entity: _describe(build, entity.title, entity.descriptions),
        graph.entities,
        build,
        "summarize entities",
    )
    relationship_texts = await map_bounded(
        lambda edge: _describe(build, f"{edge.source}, {edge.target}", edge.descriptions),
        graph.relationships,
        build,
        "summarize relationships",
    )
    degree = _degrees(graph.relationships)
    write_rows(build.output, "entities", _entity_rows(graph.entities, entity_texts, degree))
    write_rows(
        build.output,
        "relationships",
        _relationship_rows(graph.relationships, relationship_texts, degree),
    )


async def _describe(build: Build, subject: str, descriptions: Sequence[str]) -> str:
    joined = "\n".join(descriptions)
    if len(descriptions) < 2 or count_tokens(joined) <= SUMMARY_THRESHOLD_TOKENS:
        return joined
    try:
        return await build.steps.summarize(subject, descriptions)
    except HolodeckError as error:
        raise IndexingError(
            f"the descriptions of {subject!r} could not be summarised: {error}. What was paid for "
            "is kept: run 'holodeck index' again to go on"
        ) from error


def _degrees(relationships: Sequence[MergedRelationship]) -> Counter[str]:
    """Return entity title → number of distinct neighbours."""
    pairs = {frozenset((edge.source, edge.target)) for edge in relationships}
    return Counter(title for pair in pairs for title in pair)


def _entity_rows(
    entities: Sequence[MergedEntity], descriptions: Sequence[str], degree: Counter[str]
) -> list[dict[str, Any]]:
    return [
        {
            "id": entity.id,
            "human_readable_id": number,
            "title": entity.title,
            "type": entity.type,
            "description": description,
            "text_unit_ids": list(entity.text_unit_ids),
            "frequency": len(entity.text_unit_ids),
            "degree": degree[entity.title],
        }
        for number, (entity, description) in enumerate(zip(entities, descriptions, strict=True))
    ]


def _relationship_rows(
    edges: Sequence[MergedRelationship], descriptions: Sequence[str], degree: Counter[str]
) -> list[dict[str, Any]]:
    return [
        {
            "id": edge.id,
            "human_readable_id": number,
            "source": edge.source,
            "target": edge.target,
            "description": description,
            "weight": edge.weight,
            "combined_degree": degree[edge.source] + degree[edge.target],
            "text_unit_ids": list(edge.text_unit_ids),
        }
        for number, (edge, description) in enumerate(zip(edges, descriptions, strict=True))
    ]
