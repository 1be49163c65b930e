"""Text units → entities and relationships: ask for each, then merge by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from holodeck.lib.contracts import Extraction
from holodeck.lib.graphrag.ask_units import ask_units
from holodeck.lib.graphrag.build import Build, map_bounded
from holodeck.lib.graphrag.failures import (
    MEND,
    said_of,
    warning_of_losses,
)
from holodeck.lib.graphrag.kept_extraction import as_json, from_json
from holodeck.lib.graphrag.merge import (
    SELF_LOOP,
    MergedEntity,
    MergedGraph,
    MergedRelationship,
    merge,
)
from holodeck.lib.graphrag.summarize import as_found, describe
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.indexes.step_memo import memo_key

__all__ = ["extract_graph"]


async def extract_graph(build: Build) -> None:
    """Write ``entities``, ``relationships`` and ``aliases`` from ``text_units``.

    Raises:
        IndexingError: Too many chunks failed, or the model cannot be used at all.
    """
    graph = merge(await _extractions(build))
    _count(build, graph)
    entity_texts, relationship_texts = await _describe(build, graph)
    _warn_of_summaries(build, len(graph.entities) + len(graph.relationships))
    degree = _degrees(graph.relationships)
    write_rows(build.output, "entities", _entity_rows(graph.entities, entity_texts, degree))
    write_rows(
        build.output,
        "relationships",
        _relationship_rows(graph.relationships, relationship_texts, degree),
    )
    write_rows(build.output, "aliases", _alias_rows(graph.entities))


async def _describe(build: Build, graph: MergedGraph) -> tuple[list[str], list[str]]:
    """Return one description for each entity, which is embedded too, and each relationship.

    Those that stand as they were found need no model and are handed over to be embedded first.
    """
    things: list[MergedEntity | MergedRelationship] = [*graph.entities, *graph.relationships]
    texts = [as_found(build, thing.descriptions) for thing in things]

    def embed(described: Iterable[tuple[MergedEntity | MergedRelationship, str | None]]) -> None:
        build.embedding.add(
            "entity_description",
            [
                (thing.id, f"{thing.title}:{text}")
                for thing, text in described
                if isinstance(thing, MergedEntity) and text is not None
            ],
        )

    async def one(place: int) -> str:
        thing = things[place]
        text = await describe(build, _subject(thing), thing.descriptions)
        embed([(thing, text)])
        return text

    embed(zip(things, texts, strict=True))

    long = [place for place, text in enumerate(texts) if text is None]
    made = dict(zip(long, await map_bounded(one, long, build, "summarize"), strict=True))
    whole = [made[place] if text is None else text for place, text in enumerate(texts)]
    return whole[: len(graph.entities)], whole[len(graph.entities) :]


def _subject(thing: MergedEntity | MergedRelationship) -> str:
    if isinstance(thing, MergedEntity):
        return thing.title
    return f"{thing.source}, {thing.target}"


async def _extractions(build: Build) -> list[tuple[str, Extraction]]:
    """Return what each text unit says; failed ones are left out and accounted for."""
    units = read_rows(build.output, "text_units", ["id", "text"])
    build.embedding.add("text_unit_text", [(unit["id"], unit["text"]) for unit in units])

    async def extract(text: str) -> Extraction:
        key = memo_key("extract", text)
        return await build.memo.asked(key, lambda: build.steps.extract(text), _whole, from_json)

    results = await ask_units(build, units, extract, what="chunk", step="extract")
    build.chunks.update(dict.fromkeys(("done", "repaired", "empty", "failed"), 0))
    build.chunks.update(_state(found) for found in results)
    for found in results:
        build.repairs.update(found.repairs if found is not None else {})
    return [(u["id"], found) for u, found in zip(units, results, strict=True) if found is not None]


def _whole(found: Extraction) -> dict[str, Any] | None:
    """Return what is remembered; of a text whose further pass failed, nothing."""
    return as_json(found) if found.incomplete is None else None


def _state(found: Extraction | None) -> str:
    if found is None or found.incomplete is not None:
        return "failed"
    if not found.entities and not found.relationships:
        return "empty"
    return "repaired" if found.repairs else "done"


def _count(build: Build, graph: MergedGraph) -> None:
    """Count merges and what was dropped; warn where that is much."""
    build.counts["merged_entities"] = graph.merged_spellings
    build.dropped.update(graph.dropped)
    lost = {reason: count for reason, count in graph.dropped.items() if reason != SELF_LOOP}
    build.warnings.extend(warning_of_losses(lost, graph.records, "extracted records"))


def _warn_of_summaries(build: Build, total: int) -> None:
    failed = [failure for failure in build.failures if failure.what == "summary"]
    if failed:
        build.warnings.append(
            f"{said_of(failed, total)}. Their descriptions are kept as they were found. {MEND}"
        )


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


def _alias_rows(entities: Sequence[MergedEntity]) -> list[dict[str, Any]]:
    """Return the spellings and types that an entity was met with besides those it shows."""
    return [
        {"entity_id": entity.id, "kind": kind, "value": value, "count": count}
        for entity in entities
        for kind, shown, met in (
            ("spelling", entity.title, entity.spellings),
            ("type", entity.type, entity.types),
        )
        for value, count in sorted(met.items())
        if value != shown
    ]
