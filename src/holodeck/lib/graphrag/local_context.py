"""A question → the context of a local search: reports, entities, relationships, text units.

The selection follows the library's ``LocalSearch`` (3.3): entities by vector, then what hangs on
them, each kind within its share of the token budget. The form of the tables is the library's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from holodeck.lib.contracts import (
    AnswerContext,
    ContextClaim,
    ContextEntity,
    ContextRelationship,
    ContextReport,
)
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.names import name_key
from holodeck.lib.graphrag.values import LOCAL, LocalValues
from holodeck.lib.graphrag.write_context import table_text
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LocalSelection", "select_local"]

OVERSAMPLE = 2
"""The library looks at twice the configured number of entities and keeps them all."""

Record = TypeVar("Record")


@dataclass(frozen=True, kw_only=True)
class LocalSelection:
    """The context and, in order of use, the ids of its text units."""

    context: AnswerContext
    text_unit_ids: tuple[str, ...]


def select_local(
    index: GraphIndex,
    question: str,
    query: NDArray[np.float32],
    level: int,
    values: LocalValues = LOCAL,
) -> LocalSelection:
    """Build the context of ``question``.

    Args:
        index: The opened index.
        question: Entities that it names come first.
        query: The question's vector, of length 1.
        level: Deepest community level to use.
        values: Budgets and counts.
    """
    entity_ids = _match_entities(index, question, query, values)
    entities = [index.entities[key] for key in entity_ids]
    tokens = values.context_tokens
    report_text, reports = _take(
        "Reports",
        ("id", "title", "content"),
        _reports(index, entity_ids, level),
        lambda report: f"{report.number}|{report.title}|{report.content}\n",
        int(tokens * values.community_share),
    )
    local_budget = int(tokens * (1 - values.community_share - values.text_unit_share))
    entity_text, kept_entities = _take(
        "Entities",
        ("id", "entity", "description", "number of relationships"),
        entities,
        lambda entity: f"{entity.number}|{entity.title}|{entity.description}|{entity.degree}\n",
        local_budget,
    )
    edge_text, edges = _take(
        "Relationships",
        ("id", "source", "target", "description", "weight"),
        _relationships(index, kept_entities, values),
        lambda edge: (
            f"{edge.number}|{edge.source}|{edge.target}|{edge.description}|{edge.weight}\n"
        ),
        local_budget - count_tokens(entity_text),
    )
    claim_text, claims = _take(
        "Claims",
        ("id", "entity", "object_id", "status", "start_date", "end_date", "description"),
        [claim for entity in kept_entities for claim in index.claims.get(entity.title, ())],
        _claim_line,
        local_budget - count_tokens(entity_text) - count_tokens(edge_text),
    )
    unit_ids = _text_units(index, entity_ids, query)
    unit_text, units = _take(
        "Sources",
        ("id", "text"),
        [index.text_units[key] for key in unit_ids],
        lambda unit: f"{unit.number}|{unit.text}\n",
        int(tokens * values.text_unit_share),
    )
    sections = (report_text, entity_text, edge_text, claim_text, unit_text)
    return LocalSelection(
        context=AnswerContext(
            text="\n\n".join(section for section in sections if section),
            entities=tuple(kept_entities),
            relationships=tuple(edges),
            claims=tuple(claims),
            reports=tuple(reports),
            text_units=tuple(units),
        ),
        text_unit_ids=tuple(unit_ids[: len(units)]),
    )


def _claim_line(item: ContextClaim) -> str:
    claim = item.claim
    fields = (
        str(item.number),
        claim.subject,
        claim.object,
        claim.status,
        claim.start_date,
        claim.end_date,
        claim.description,
    )
    return "|".join(fields) + "\n"


def _match_entities(
    index: GraphIndex, question: str, query: NDArray[np.float32], values: LocalValues
) -> list[str]:
    """Return the entities that the question names, then the nearest by vector."""
    if index.entity_vectors is None:
        return []
    count = values.entities * OVERSAMPLE
    nearest = index.entity_vectors.nearest(query, count)
    named = _named_entities(index, question)
    return list(dict.fromkeys([*named, *(key for key, _ in nearest)]))[:count]


def _named_entities(index: GraphIndex, question: str) -> list[str]:
    """Return the entities whose whole name stands in the question, longest name first."""
    text = f" {_words(question)} "
    named = [
        (title, key)
        for title, key in index.entity_of_title.items()
        if f" {_words(title)} " in text and len(name_key(title)) > 1
    ]
    return [key for title, key in sorted(named, key=lambda pair: (-len(pair[0]), pair[0]))]


def _words(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def _reports(index: GraphIndex, entity_ids: Sequence[str], level: int) -> list[ContextReport]:
    """Return the reports of the entities' communities, those of most matched entities first."""
    finest = index.finest_communities(min(level, index.deepest_level))
    matches = Counter(finest[key] for key in entity_ids if key in finest)
    numbers = [number for number in matches if number in index.reports]
    numbers.sort(key=lambda n: (-matches[n], -index.reports[n].rank, n))
    return [index.reports[number] for number in numbers]


def _relationships(
    index: GraphIndex, entities: Sequence[ContextEntity], values: LocalValues
) -> list[ContextRelationship]:
    """Return relationships between the entities, then the best ones that lead out of them."""
    titles = {entity.title for entity in entities}
    ids = list(dict.fromkeys(key for e in entities for key in index.edges_of_entity[e.title]))
    inside = [key for key in ids if {index.edges[key].source, index.edges[key].target} <= titles]
    outside = [key for key in ids if key not in set(inside)]
    links = Counter(_outer_end(index.edges[key], titles) for key in outside)
    inside.sort(key=lambda key: (-index.edge_ranks[key], index.edges[key].number))
    outside.sort(
        key=lambda key: (
            -links[_outer_end(index.edges[key], titles)],
            -index.edge_ranks[key],
            index.edges[key].number,
        )
    )
    kept = inside + outside[: values.relationships * len(entities)]
    return [index.edges[key] for key in kept]


def _outer_end(edge: ContextRelationship, titles: set[str]) -> str:
    return edge.target if edge.source in titles else edge.source


def _text_units(
    index: GraphIndex, entity_ids: Sequence[str], query: NDArray[np.float32]
) -> list[str]:
    """Return the entities' text units, those near the question and with many entities first."""
    mentions = Counter(unit for key in entity_ids for unit in index.units_of_entity[key])
    scores: dict[str, float] = {}
    if index.unit_vectors is not None:
        cosines = index.unit_vectors.matrix @ query
        scores = {
            key: float(cosines[row])
            for row, key in enumerate(index.unit_vectors.ids)
            if key in mentions
        }
    most = max(mentions.values(), default=1)
    return sorted(
        (key for key in mentions if key in index.text_units),
        key=lambda key: (-(scores.get(key, 0.0) + mentions[key] / most), key),
    )


def _take(
    name: str,
    header: Sequence[str],
    records: Iterable[Record],
    line: Callable[[Record], str],
    budget: int,
) -> tuple[str, list[Record]]:
    """Return the table of the leading records that fit ``budget`` tokens; empty when none does."""
    left = budget - count_tokens(table_text(name, header, ()))
    lines: list[str] = []
    kept: list[Record] = []
    for record in records:
        text = line(record)
        left -= count_tokens(text)
        if left < 0:
            break
        lines.append(text)
        kept.append(record)
    return (table_text(name, header, lines) if kept else "", kept)
