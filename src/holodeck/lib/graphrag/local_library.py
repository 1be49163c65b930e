"""The context that the library's ``LocalSearch`` (3.3) builds, byte for byte.

What it does is kept also where it is odd, since the point is that the two agree: a line for every
prefix of the entities, a ``links`` column that appears or not, headers over nothing. One thing is
mended, because the promise to find everything is worth more: the library forgets an entity without
a community, and here it is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import ContextRelationship
from holodeck.lib.graphrag import local_sections as sections
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import LocalQuestion, LocalSelection
from holodeck.lib.graphrag.values import LocalValues
from holodeck.lib.graphrag.write_context import report_rows

__all__ = ["select_library"]

OVERSAMPLE = 2
"""The library looks at twice the configured number of entities and keeps them all."""
NO_REPORT_FITS = "[]"
"""What the library writes where reports were found and none fits: its empty list, as text."""
NOTHING: sections.Section[Any] = sections.Section()  # Any: it holds no record of any kind
LOWER_CLAIMS = replace(sections.CLAIMS, name="claims")


@dataclass(frozen=True, kw_only=True)
class _LinkedEdge:
    """A relationship, and how many entities its outer end is connected with, or nothing."""

    edge: ContextRelationship
    links: int | str


LINKED_EDGES = sections.Table[_LinkedEdge](
    name=sections.EDGES.name,
    columns=(*sections.EDGES.columns, "links"),
    line=lambda linked: f"{sections.EDGES.line(linked.edge)[:-1]}|{linked.links}\n",
)


def select_library(
    index: GraphIndex, question: LocalQuestion, values: LocalValues
) -> LocalSelection:
    """Build the context of ``question`` as the library does."""
    tokens = values.context_tokens
    entities = _nearest_entities(index, question, values)
    reports = _reports(index, entities, question.level, tokens * values.community_share)
    graph_share = 1 - values.community_share - values.text_unit_share
    graph = _graph(index, entities, int(tokens * graph_share), values)
    units = _text_units(index, entities, int(tokens * values.text_unit_share))
    shown = (reports.text, graph.text, units.text)
    return LocalSelection(
        context=sections.context_of(
            "\n\n".join(section for section in shown if section.strip()),
            reports=reports,
            entities=graph.entities,
            edges=graph.edges,
            claims=graph.claims,
            units=units,
        ),
        text_units=units.rows,
    )


def _nearest_entities(index: GraphIndex, question: LocalQuestion, values: LocalValues) -> list[int]:
    if index.entity_vectors is None:
        return []
    nearest = index.entity_vectors.nearest(question.vector, values.entities * OVERSAMPLE)
    return [int(row) for row in nearest]


def _reports(
    index: GraphIndex, entities: Sequence[int], level: int, budget: float
) -> sections.Reports:
    """Return the reports of all levels 0..level; those of most entities first, then by rank."""
    usable = index.reported_communities(level)
    if not entities or not usable:
        return NOTHING
    communities = index.all_communities(level)
    matches: Counter[int] = Counter()
    for row in entities:
        # The library keeps the communities of an entity as a set: equal ranks go by its order.
        matches.update(set(communities.of(row).tolist()))
    found = [number for number in matches if number in usable]
    found.sort(key=lambda number: (matches[number], index.reports[number].rank), reverse=True)
    record_of = index.reports.__getitem__
    section = sections.REPORTS.fill(found, record_of, int(budget), index.token_counts)
    if not section.rows:
        return sections.Section(text=NO_REPORT_FITS)
    # Counted as plain lines, written as quoted ones.
    return replace(section, text=f"-----Reports-----\n{report_rows(section.records)}")


@dataclass(frozen=True, kw_only=True)
class _Graph:
    """Entities, relationships and claims of a context."""

    text: str = ""
    entities: sections.Entities = NOTHING
    edges: sections.Edges = NOTHING
    claims: sections.Claims = NOTHING


def _graph(index: GraphIndex, entities: Sequence[int], budget: int, values: LocalValues) -> _Graph:
    """Add what hangs on one entity after the other, until it is too much."""
    if not entities:
        return _Graph()
    record_of, counts = index.entities.record, index.token_counts
    first = sections.ENTITIES.fill(entities, record_of, budget, counts)
    kept = _Graph(text=f"{first.text}\n\n", entities=first)
    relationships = _Relationships(index=index, per_entity=values.relationships)
    for count in range(1, len(entities) + 1):
        added = entities[:count]
        edges = relationships.section(added, budget)
        claims = _claims(index, added, budget)
        if first.tokens + edges.tokens + claims.tokens > budget:
            break
        kept = _Graph(
            text=f"{first.text}\n\n{edges.text}\n\n{claims.text}",
            entities=first,
            edges=edges,
            claims=claims,
        )
    return kept


def _claims(index: GraphIndex, entities: Sequence[int], budget: int) -> sections.Claims:
    if not index.claims:
        return NOTHING
    claims = [claim for row in entities for claim in index.claims.get(row, ())]
    places = range(len(claims))
    return LOWER_CLAIMS.fill(places, claims.__getitem__, budget, index.token_counts)


@dataclass(kw_only=True)
class _Relationships:
    """The relationships of a growing list of entities.

    Attributes:
        links: For each relationship that ever led out of the entities: how many of them its outer
            end was connected with, when that was last looked at.
    """

    index: GraphIndex
    per_entity: int
    links: dict[int, int] = field(default_factory=dict)

    def section(self, entities: Sequence[int], budget: int) -> sections.Edges:
        """Return the table of the relationships that fit; nothing when there are none."""
        rows = self._ordered(np.asarray(entities))
        if not len(rows):
            return NOTHING
        counts = self.index.token_counts
        # The first relationship alone decides whether the table has a column for links.
        if int(rows[0]) not in self.links:
            return sections.EDGES.fill(rows.tolist(), self._record_of, budget, counts)
        linked = LINKED_EDGES.fill(rows.tolist(), self._linked, budget, counts)
        records = tuple(each.edge for each in linked.records)
        return sections.Section(
            text=linked.text, rows=linked.rows, records=records, tokens=linked.tokens
        )

    @cached_property
    def _record_of(self) -> Callable[[int], ContextRelationship]:
        return cache(self.index.edges.record)  # the tables of a growing list have most in common

    def _linked(self, row: int) -> _LinkedEdge:
        return _LinkedEdge(edge=self._record_of(row), links=self.links.get(row, ""))

    def _ordered(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return relationships between the entities by rank, then the best that lead out."""
        edges = self.index.edges
        of_each = [self.index.entities.edges.of(row) for row in entities.tolist()]
        rows = np.unique(np.concatenate(of_each))
        from_inside = np.isin(edges.sources[rows], entities)
        to_inside = np.isin(edges.targets[rows], entities)
        inside = self._by_rank(rows[from_inside & to_inside])
        leading_out = (rows[from_inside & ~to_inside], rows[to_inside & ~from_inside])
        outside = self._by_rank(np.concatenate(leading_out))
        if len(outside) <= 1:
            return np.concatenate((inside, outside))
        links = self._count_links(outside, entities)
        self.links.update(zip(outside.tolist(), links.tolist(), strict=True))
        best = outside[np.lexsort((-edges.ranks[outside], -links))]
        return np.concatenate((inside, best[: self.per_entity * len(entities)]))

    def _by_rank(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return rows[np.argsort(-self.index.edges.ranks[rows], kind="stable")]

    def _count_links(
        self, rows: NDArray[np.int64], entities: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return how many of the entities the outer end of each relationship is connected with."""
        sources, targets = self.index.edges.sources[rows], self.index.edges.targets[rows]
        from_inside = np.isin(sources, entities)
        outer = np.where(from_inside, targets, sources)
        inner = np.where(from_inside, sources, targets)
        ends, place = np.unique(outer, return_inverse=True)
        # One number for each pair: many times as fast as sorting pairs.
        width = len(self.index.edges.names)
        pairs = np.unique(place * width + inner)
        return np.bincount(pairs // width, minlength=len(ends))[place]


def _text_units(index: GraphIndex, entities: Sequence[int], budget: int) -> sections.Units:
    """Return the text units of the entities in turn, those with most of its relationships first."""
    if not entities or not len(index.text_units):
        return NOTHING
    ordered = list(_ordered_units(index, entities, budget))
    if not ordered:
        return NOTHING
    return sections.UNITS.fill(ordered, index.text_units.record, budget, index.token_counts)


def _ordered_units(index: GraphIndex, entities: Sequence[int], budget: int) -> Iterator[int]:
    seen: set[int] = set()
    stated = index.text_units.edges
    for row in entities:
        if len(seen) > budget:  # each takes a token at least
            return
        wanted = np.zeros(len(index.edges), dtype=np.bool_)
        wanted[index.entities.edges.of(row)] = True
        new = [
            unit
            for unit in dict.fromkeys(index.entities.units.of(row).tolist())
            if unit not in seen
        ]
        seen.update(new)
        yield from sorted(new, key=lambda unit: -stated.count_within(unit, wanted))
