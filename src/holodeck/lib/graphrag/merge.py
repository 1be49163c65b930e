"""What the text units say → one entity a name and one relationship a pair.

Ids come from names alone, so that an entity keeps its id in every rebuild; order is by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from holodeck.lib.contracts import Extraction
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.names import name_key, tidy_name

__all__ = ["SELF_LOOP", "MergedEntity", "MergedGraph", "MergedRelationship", "merge"]

SELF_LOOP = "relationship of an entity with itself"

Key = TypeVar("Key")


@dataclass(frozen=True, kw_only=True)
class MergedEntity:
    """One entity: the most frequent spelling and type, every distinct description.

    Attributes:
        spellings: Every spelling, and how often it was met.
        types: Every type, and how often it was given.
    """

    id: str
    title: str
    type: str
    descriptions: tuple[str, ...]
    text_unit_ids: tuple[str, ...]
    spellings: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MergedRelationship:
    """One directed relationship; the weight is the sum over the text units."""

    id: str
    source: str
    target: str
    descriptions: tuple[str, ...]
    weight: float
    text_unit_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MergedGraph:
    """The whole graph.

    Attributes:
        merged_spellings: Spellings that were joined to an entity of another spelling.
        dropped: Records that could not be used, by reason.
        records: Records that there were, dropped ones included.
    """

    entities: tuple[MergedEntity, ...]
    relationships: tuple[MergedRelationship, ...]
    merged_spellings: int
    dropped: Counter[str]
    records: int = 0


@dataclass
class _Gathered:
    titles: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    text_unit_ids: dict[str, None] = field(default_factory=dict)
    weight: float = 0.0


def merge(extractions: Iterable[tuple[str, Extraction]]) -> MergedGraph:
    """Merge the extractions of text units, given in order of their ids."""
    entities: dict[str, _Gathered] = {}
    only_ends: dict[str, _Gathered] = {}
    edges: dict[tuple[str, str], _Gathered] = {}
    dropped: Counter[str] = Counter()
    records = 0
    for text_unit_id, extraction in extractions:
        dropped.update(extraction.dropped)
        records += sum(extraction.dropped.values())
        records += len(extraction.entities) + len(extraction.relationships)
        for entity in extraction.entities:
            if key := name_key(entity.title):
                _add(entities, key, text_unit_id, entity.description, entity.title, entity.type)
            else:
                dropped["entity without a name"] += 1
        for edge in extraction.relationships:
            ends = (name_key(edge.source), name_key(edge.target))
            if not all(ends):
                dropped["relationship without an end"] += 1
            elif ends[0] == ends[1]:
                # It connects nothing, and still says something of the entity.
                dropped[SELF_LOOP] += 1
                _add(only_ends, ends[0], text_unit_id, edge.description, edge.source)
            else:
                _add(edges, ends, text_unit_id, edge.description).weight += edge.weight
                for key, title in zip(ends, (edge.source, edge.target), strict=True):
                    _add(only_ends, key, text_unit_id, edge.description, title)
    # An end that no record describes is an entity all the same: its relationship describes it.
    entities |= {key: only_ends[key] for key in only_ends if key not in entities}
    titles = {key: _most_frequent(gathered.titles) for key, gathered in entities.items()}
    return MergedGraph(
        entities=tuple(sorted((_entity(key, entities[key]) for key in entities), key=_by_id)),
        relationships=tuple(
            sorted((_relationship(ends, edges[ends], titles) for ends in edges), key=_by_id)
        ),
        merged_spellings=sum(len(gathered.titles) - 1 for gathered in entities.values()),
        dropped=dropped,
        records=records,
    )


def _add(
    gathered: dict[Key, _Gathered],
    key: Key,
    text_unit_id: str,
    description: str,
    title: str = "",
    kind: str = "",
) -> _Gathered:
    record = gathered.get(key)
    if record is None:
        record = gathered[key] = _Gathered()
    record.text_unit_ids[text_unit_id] = None
    if description.strip():
        record.descriptions[description.strip()] = None
    if title:
        tidy = tidy_name(title)
        record.titles[tidy] = record.titles.get(tidy, 0) + 1
    if kind:
        record.types[kind] = record.types.get(kind, 0) + 1
    return record


def _most_frequent(counts: Mapping[str, int]) -> str:
    return min(counts, key=lambda value: (-counts[value], value)) if counts else ""


def _entity(key: str, gathered: _Gathered) -> MergedEntity:
    return MergedEntity(
        id=content_id("entity", key),
        title=_most_frequent(gathered.titles),
        type=_most_frequent(gathered.types),
        descriptions=tuple(gathered.descriptions),
        text_unit_ids=tuple(gathered.text_unit_ids),
        spellings=dict(gathered.titles),
        types=dict(gathered.types),
    )


def _relationship(
    ends: tuple[str, str], gathered: _Gathered, titles: dict[str, str]
) -> MergedRelationship:
    return MergedRelationship(
        id=content_id("relationship", *ends),
        source=titles[ends[0]],
        target=titles[ends[1]],
        descriptions=tuple(gathered.descriptions),
        weight=gathered.weight,
        text_unit_ids=tuple(gathered.text_unit_ids),
    )


def _by_id(record: MergedEntity | MergedRelationship) -> str:
    return record.id
