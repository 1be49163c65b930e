"""The context that the library's ``LocalSearch`` (3.3) builds, byte for byte.

What it does is kept also where it is odd, since the point is that the two agree: a line for every
prefix of the entities, a ``links`` column that appears or not, headers over nothing. One thing is
mended, because the promise to find everything is worth more: the library forgets an entity without
a community, and here it is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import ContextClaim
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import (
    LocalQuestion,
    LocalSelection,
    Section,
    fill_section,
)
from holodeck.lib.graphrag.local_lines import (
    CLAIM_HEADER,
    EDGE_HEADER,
    ENTITY_HEADER,
    REPORT_HEADER,
    UNIT_HEADER,
    claim_lines,
    edge_line,
    entity_lines,
    report_line,
    shown_context,
    unit_lines,
)
from holodeck.lib.graphrag.values import LocalValues
from holodeck.lib.graphrag.write_context import report_rows

__all__ = ["select_library"]

OVERSAMPLE = 2
"""The library looks at twice the configured number of entities and keeps them all."""
NO_REPORT_FITS = "[]"
"""What the library writes where reports were found and none fits: its empty list, as text."""
NOTHING = Section(text="", rows=(), tokens=0)


def select_library(
    index: GraphIndex, question: LocalQuestion, values: LocalValues
) -> LocalSelection:
    """Build the context of ``question`` as the library does."""
    tokens = values.context_tokens
    entities = _nearest_entities(index, question, values)
    reports, numbers = _reports(index, entities, question.level, tokens * values.community_share)
    graph_share = 1 - values.community_share - values.text_unit_share
    graph = _graph(index, entities, int(tokens * graph_share), values)
    units = _text_units(index, entities, int(tokens * values.text_unit_share))
    sections = (reports, graph.text, units.text)
    return LocalSelection(
        context=shown_context(
            index,
            "\n\n".join(section for section in sections if section.strip()),
            reports=numbers,
            entities=graph.entities.rows,
            edges=graph.edges.rows,
            claims=graph.claims,
            text_units=units.rows,
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
) -> tuple[str, list[int]]:
    """Return the reports of all levels 0..level; those of most entities first, then by rank."""
    usable = index.reported_communities(level)
    if not entities or not usable:
        return "", []
    communities = index.all_communities(level)
    matches: Counter[int] = Counter()
    for row in entities:
        # The library keeps the communities of an entity as a set: equal ranks go by its order.
        matches.update(set(communities.of(row).tolist()))
    found = [number for number in matches if number in usable]
    found.sort(key=lambda number: (matches[number], index.reports[number].rank), reverse=True)
    lines = ((number, report_line(index, number)) for number in found)
    section = fill_section("Reports", REPORT_HEADER, lines, int(budget), index.token_counts)
    if not section.rows:
        return NO_REPORT_FITS, []
    # Counted as plain lines, written as quoted ones.
    rows = report_rows(index.reports[number] for number in section.rows)
    return f"-----Reports-----\n{rows}", list(section.rows)


@dataclass(frozen=True, kw_only=True)
class _Graph:
    """Entities, relationships and claims of a context."""

    text: str
    entities: Section
    edges: Section = NOTHING
    claims: Sequence[ContextClaim] = ()


def _graph(index: GraphIndex, entities: Sequence[int], budget: int, values: LocalValues) -> _Graph:
    """Add what hangs on one entity after the other, until it is too much."""
    if not entities:
        return _Graph(text="", entities=NOTHING)
    lines = entity_lines(index, entities)
    first = fill_section("Entities", ENTITY_HEADER, lines, budget, index.token_counts)
    kept = _Graph(text=f"{first.text}\n\n", entities=first)
    edges = _Relationships(index=index, per_entity=values.relationships)
    for count in range(1, len(entities) + 1):
        added = entities[:count]
        edge_table = edges.section(added, budget)
        claim_table, claims = _claims(index, added, budget)
        if first.tokens + edge_table.tokens + claim_table.tokens > budget:
            break
        kept = _Graph(
            text=f"{first.text}\n\n{edge_table.text}\n\n{claim_table.text}",
            entities=first,
            edges=edge_table,
            claims=claims[: len(claim_table.rows)],
        )
    return kept


def _claims(
    index: GraphIndex, entities: Sequence[int], budget: int
) -> tuple[Section, list[ContextClaim]]:
    if not index.claims:
        return NOTHING, []
    claims = [claim for row in entities for claim in index.claims.get(row, ())]
    numbered = ((claims[place].number, line) for place, line in claim_lines(claims))
    return fill_section("claims", CLAIM_HEADER, numbered, budget, index.token_counts), claims


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

    def section(self, entities: Sequence[int], budget: int) -> Section:
        """Return the table of the relationships that fit; nothing when there are none."""
        rows = self._ordered(np.asarray(entities))
        if not len(rows):
            return NOTHING
        # The first relationship alone decides whether the table has a column for links.
        has_links = int(rows[0]) in self.links
        header = (*EDGE_HEADER, "links") if has_links else EDGE_HEADER
        lines = self._lines(rows, has_links=has_links)
        counts = self.index.token_counts
        return fill_section("Relationships", header, lines, budget, counts)

    def _lines(self, rows: NDArray[np.int64], *, has_links: bool) -> Iterator[tuple[int, str]]:
        for row in rows.tolist():
            line = edge_line(self.index, row)
            yield row, f"{line[:-1]}|{self.links.get(row, '')}\n" if has_links else line

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


def _text_units(index: GraphIndex, entities: Sequence[int], budget: int) -> Section:
    """Return the text units of the entities in turn, those with most of its relationships first."""
    if not entities or not len(index.text_units):
        return NOTHING
    ordered = list(_ordered_units(index, entities, budget))
    if not ordered:
        return Section(text="", rows=(), tokens=0)
    lines = unit_lines(index, ordered)
    return fill_section("Sources", UNIT_HEADER, lines, budget, index.token_counts)


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
