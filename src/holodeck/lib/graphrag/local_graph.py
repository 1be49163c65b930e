"""The context of ``ranking: graph``: what a walk from the question meets most often.

The walk (``spread``) starts at the entities, relationships and text units that resemble the
question by words and by vectors, and above all at the entities that it names. Every record is then
worth what the walk leaves on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from holodeck.lib.ranking.fuse import best_rows, fuse, standard_scores
from holodeck.lib.ranking.vectors import MEASURED, Vectors

__all__ = ["Relevance", "find_relevance", "select_graph"]

# How many of each kind the walk starts at, and how much of it starts there. Tuned on questions
# 16 to 57 of MuSiQue (bench/retrieval.py), where all of them lie on a plateau.
SEED_ENTITIES = 5
SEED_EDGES = 5
SEED_UNITS = 20
ENTITY_WEIGHT = 1.0
EDGE_WEIGHT = 1.0
UNIT_WEIGHT = 0.6
NAMED_WEIGHT = 2.0

Scores = NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class Relevance:
    """What a question makes of every record.

    Attributes:
        entities: Share of the walk at each entity.
        units: Share of the walk at each text unit.
        likeness: How far each text unit resembles the question itself.
    """

    entities: Scores
    units: Scores
    likeness: Scores


def find_relevance(index: GraphIndex, question: LocalQuestion) -> Relevance:
    """Walk from the question over the graph."""
    likeness = _alike(index.unit_vectors, question.vector, index.words.units.scores(question.text))
    passages = UNIT_WEIGHT * _shares(_leading(likeness, SEED_UNITS))
    seeds = np.concatenate((_entity_seeds(index, question), passages))
    if not seeds.any():  # nothing resembles the question: what is central is shown
        seeds = np.ones_like(seeds)
    entities, units = index.spread.walk(seeds)
    return Relevance(entities=entities, units=units, likeness=likeness)


def _entity_seeds(index: GraphIndex, question: LocalQuestion) -> Scores:
    """Return where the walk starts among the entities; a rare one before one that is everywhere."""
    words = index.words
    count = len(index.entities)
    alike = _alike(
        index.entity_vectors,
        question.vector,
        words.entities.scores(question.text),
        words.titles.scores(question.text),
    )
    stated = _leading(standard_scores(words.edges.scores(question.text)), SEED_EDGES)
    ends = np.zeros(count)
    for row in np.flatnonzero(stated):
        for end in (index.edges.sources[row], index.edges.targets[row]):
            if end < count:
                ends[end] += stated[row]
    rarity = index.entities.rarity
    seeds: Scores = (
        ENTITY_WEIGHT * _shares(_leading(alike, SEED_ENTITIES) * rarity)
        + EDGE_WEIGHT * _shares(ends * rarity)
        + NAMED_WEIGHT * _shares(words.named(question.text) * rarity)
    )
    return seeds


def _alike(
    vectors: Vectors | None, query: NDArray[np.float32], *scores: NDArray[np.floating]
) -> Scores:
    """Return words and vectors fused; what looks best is measured exactly before it is ranked."""
    if vectors is None:
        return fuse(*scores)
    near = vectors.similarities(query, scores[0].size)
    if not vectors.is_exact:
        leading = np.concatenate(
            (best_rows(near, MEASURED), best_rows(fuse(*scores, near), MEASURED))
        )
        vectors.measure(near, np.unique(leading), query)
    return fuse(*scores, near)


def _leading(scores: Scores, count: int) -> Scores:
    """Return the ``count`` best of the scores that are above the mean, and 0 for all others."""
    rows = best_rows(scores, count)
    kept = np.zeros_like(scores)
    kept[rows] = np.maximum(scores[rows], 0.0)
    return kept


def _shares(scores: Scores) -> Scores:
    total = float(scores.sum())
    return scores * (1 / total) if total > 0 else scores


def select_graph(index: GraphIndex, question: LocalQuestion, values: LocalValues) -> LocalSelection:
    """Build the context of ``question``: the budget goes to what is worth most for its tokens."""
    relevance = find_relevance(index, question)
    budget = values.context_tokens
    reports = _reports(index, question.level, relevance, int(budget * values.community_share))
    graph_share = 1 - values.community_share - values.text_unit_share
    left = int(budget * graph_share)
    entities = _entities(index, relevance, left // 2, values)
    edges = _edges(index, entities.rows, relevance, left - entities.tokens, values)
    claims = _claims(index, entities.rows, left - entities.tokens - edges.tokens)
    others = (reports, entities, edges, claims)
    used = sum(section.tokens for section in others if section.rows)
    units = _units(index, relevance, budget - used - _JOINS)
    shown = [section.text for section in (*others, units) if section.rows]
    return LocalSelection(
        context=shown_context(
            index,
            "\n\n".join(shown),
            reports=reports.rows,
            entities=entities.rows,
            edges=edges.rows,
            claims=[_claims_of(index, entities.rows)[place] for place in claims.rows],
            text_units=units.rows,
        ),
        text_units=units.rows,
    )


_JOINS = 4
"""Tokens of the blank lines between the tables."""


def _reports(index: GraphIndex, level: int, relevance: Relevance, budget: int) -> Section:
    """Return the reports of the communities that the walk meets most."""
    finest = index.finest_communities(level)
    met: dict[int, float] = {}
    for row in best_rows(relevance.entities, _MET).tolist():
        number = int(finest[row])
        if number in index.reports:
            met[number] = met.get(number, 0.0) + float(relevance.entities[row])
    numbers = sorted(met, key=lambda n: (-met[n], -index.reports[n].rank, n))
    lines = ((number, report_line(index, number)) for number in numbers)
    return fill_section("Reports", REPORT_HEADER, lines, budget, index.token_counts, skip=True)


_MET = 100
"""Entities whose communities are looked at."""


def _entities(index: GraphIndex, relevance: Relevance, budget: int, values: LocalValues) -> Section:
    rows = best_rows(relevance.entities, 2 * values.entities)
    lines = entity_lines(index, [row for row in rows.tolist() if relevance.entities[row] > 0])
    return fill_section("Entities", ENTITY_HEADER, lines, budget, index.token_counts, skip=True)


def _edges(
    index: GraphIndex,
    entities: Sequence[int],
    relevance: Relevance,
    budget: int,
    values: LocalValues,
) -> Section:
    """Return relationships of the entities, those first whose two ends the walk meets."""
    of_each = [index.entities.edges.of(row) for row in entities]
    rows = np.unique(np.concatenate(of_each)) if of_each else np.zeros(0, dtype=np.int64)
    met = np.append(relevance.entities, 0.0)
    sources = np.minimum(index.edges.sources[rows], len(index.entities))
    targets = np.minimum(index.edges.targets[rows], len(index.entities))
    worth = np.sqrt(met[sources] * met[targets])
    best = rows[best_rows(worth, values.relationships * len(entities))]
    lines = ((row, edge_line(index, row)) for row in best.tolist())
    return fill_section("Relationships", EDGE_HEADER, lines, budget, index.token_counts, skip=True)


def _claims_of(index: GraphIndex, entities: Sequence[int]) -> list[ContextClaim]:
    return [claim for row in entities for claim in index.claims.get(row, ())]


def _claims(index: GraphIndex, entities: Sequence[int], budget: int) -> Section:
    lines = claim_lines(_claims_of(index, entities))
    return fill_section("Claims", CLAIM_HEADER, lines, budget, index.token_counts, skip=True)


def _units(index: GraphIndex, relevance: Relevance, budget: int) -> Section:
    """Return the text units that are worth most for their length, most relevant first."""
    lines = unit_lines(index, _by_worth(index, relevance))
    counts = index.token_counts
    chosen = fill_section("Sources", UNIT_HEADER, lines, budget, counts, skip=True).rows
    order = fuse(relevance.units, relevance.likeness)
    ordered = sorted(chosen, key=lambda row: (-order[row], row))
    return fill_section("Sources", UNIT_HEADER, unit_lines(index, ordered), budget, counts)


def _by_worth(index: GraphIndex, relevance: Relevance) -> Iterator[int]:
    """Yield text units by what the walk leaves on them, then those that resemble the question.

    What the walk never meets and the question does not resemble is no filling either.
    """
    # The root of the length: by the length itself, scraps of text would come before passages.
    worth = relevance.units / np.sqrt(np.maximum(index.text_units.lengths, 1.0))
    alike = np.where(worth > 0, 0.0, relevance.likeness)
    yield from _best_first(worth)
    yield from _best_first(alike)


def _best_first(scores: Scores) -> Iterator[int]:
    """Yield the rows of positive scores, best first; most are never asked for."""
    positive = int(np.count_nonzero(scores > 0))
    first = min(_FIRST, positive)
    yield from best_rows(scores, first).tolist()
    if positive > first:
        yield from best_rows(scores, positive)[first:].tolist()


_FIRST = 200
"""Text units that fill most contexts."""
