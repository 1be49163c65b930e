"""The context of ``ranking: graph``: what a walk from the question meets most often.

The walk (``spread``) starts at the entities, relationships and text units that resemble the
question by words and by vectors, and above all at the entities that it names. Every record is then
worth what the walk leaves on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.graphrag import local_sections as sections
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.links import Rows
from holodeck.lib.graphrag.local_context import LocalQuestion, LocalSelection
from holodeck.lib.graphrag.values import LocalValues
from holodeck.lib.ranking.fuse import best_rows, fuse, standard_scores
from holodeck.lib.ranking.vectors import Vectors
from holodeck.lib.ranking.words import AskedTerms

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
    terms = AskedTerms.of(question.text)
    said = standard_scores(index.words.units.scores(terms))
    likeness = _likeness(index.unit_vectors, question, said)
    seeds = [*_entity_seeds(index, question, terms), _unit_seeds(index, likeness)]
    nodes = np.concatenate([each.nodes for each in seeds])
    weights = np.concatenate([each.weights for each in seeds])
    if not weights.any():  # nothing resembles the question: what is central is shown
        nodes = np.arange(index.spread.nodes)
        weights = np.ones(len(nodes))
    entities, units = index.spread.walk(nodes, weights)
    return Relevance(entities=entities, units=units, likeness=likeness)


@dataclass(frozen=True, kw_only=True)
class _Seeds:
    """Where the walk begins for one reason, and how often."""

    nodes: Rows
    weights: Scores

    @classmethod
    def of(cls, nodes: Rows, worth: Scores, share: float) -> _Seeds:
        """Return seeds that together are a share of all, each by its worth."""
        total = float(worth.sum())
        return cls(nodes=nodes, weights=worth * (share / total) if total > 0 else worth)


def _unit_seeds(index: GraphIndex, likeness: Scores) -> _Seeds:
    rows, worth = _leading(likeness, SEED_UNITS)
    return _Seeds.of(rows + len(index.entities), worth, UNIT_WEIGHT)


def _entity_seeds(
    index: GraphIndex, question: LocalQuestion, terms: AskedTerms
) -> Iterator[_Seeds]:
    """Yield where the walk starts among the entities; a rare one before one that is everywhere."""
    words, rarity = index.words, index.entities.rarity
    described = fuse(words.entities.scores(terms), words.titles.scores(terms))
    alike = _likeness(index.entity_vectors, question, described)
    rows, worth = _leading(alike, SEED_ENTITIES)
    yield _Seeds.of(rows, worth * rarity[rows], ENTITY_WEIGHT)

    said = words.edges.scores(terms)
    stated, worth = _leading(said, SEED_EDGES, float(said.mean()) if said.size else 0.0)
    ends = np.concatenate((index.edges.sources[stated], index.edges.targets[stated]))
    known = ends < len(index.entities)
    ends, worth = ends[known], np.concatenate((worth, worth))[known]
    yield _Seeds.of(ends, worth * rarity[ends], EDGE_WEIGHT)

    held = words.names.held_by(question.text)
    named = np.fromiter(held, dtype=np.int64, count=len(held))
    sizes = np.fromiter(held.values(), dtype=np.float64, count=len(held))
    yield _Seeds.of(named, sizes * rarity[named], NAMED_WEIGHT)


def _likeness(vectors: Vectors | None, question: LocalQuestion, words: Scores) -> Scores:
    """Return standard scores of words and vectors together."""
    return words if vectors is None else vectors.likeness(question.vector, words)


def _leading(scores: Scores, count: int, mean: float = 0.0) -> tuple[Rows, Scores]:
    """Return the rows of the ``count`` best of the scores that are above the mean, and how far."""
    rows = best_rows(scores, count)
    above = scores[rows].astype(np.float64) - mean
    kept = above > 1e-6 * abs(mean)  # below this they differ by rounding only
    return rows[kept], above[kept]


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
    used = sum(each.tokens for each in (reports, entities, edges, claims) if each.rows)
    units = _units(index, relevance, budget - used - _JOINS)
    shown = (reports, entities, edges, claims, units)
    return LocalSelection(
        context=sections.context_of(
            "\n\n".join(section.text for section in shown if section.rows),
            reports=reports,
            entities=entities,
            edges=edges,
            claims=claims,
            units=units,
        ),
        text_units=units.rows,
    )


_JOINS = 4
"""Tokens of the blank lines between the tables."""


def _reports(index: GraphIndex, level: int, relevance: Relevance, budget: int) -> sections.Reports:
    """Return the reports of the communities that the walk meets most."""
    finest = index.finest_communities(level)
    rows = best_rows(relevance.entities, _MET)
    met: dict[int, float] = {}
    for number, share in zip(finest[rows].tolist(), relevance.entities[rows].tolist(), strict=True):
        if number in index.reports:
            met[number] = met.get(number, 0.0) + share
    numbers = sorted(met, key=lambda n: (-met[n], -index.reports.rank_of(n), n))
    record_of = index.reports.__getitem__
    return sections.REPORTS.fill(numbers, record_of, budget, index.token_counts, skip=True)


_MET = 100
"""Entities whose communities are looked at."""


def _entities(
    index: GraphIndex, relevance: Relevance, budget: int, values: LocalValues
) -> sections.Entities:
    rows = best_rows(relevance.entities, 2 * values.entities)
    met = rows[relevance.entities[rows] > 0].tolist()
    record_of = index.entities.record
    return sections.ENTITIES.fill(met, record_of, budget, index.token_counts, skip=True)


def _edges(
    index: GraphIndex,
    entities: Sequence[int],
    relevance: Relevance,
    budget: int,
    values: LocalValues,
) -> sections.Edges:
    """Return relationships of the entities, those first whose two ends the walk meets."""
    of_each = [index.entities.edges.of(row) for row in entities]
    rows = np.unique(np.concatenate(of_each)) if of_each else np.zeros(0, dtype=np.int64)
    edges = index.edges
    worth = np.sqrt(_met(relevance, edges.sources[rows]) * _met(relevance, edges.targets[rows]))
    best = rows[best_rows(worth, values.relationships * len(entities))].tolist()
    return sections.EDGES.fill(best, edges.record, budget, index.token_counts, skip=True)


def _met(relevance: Relevance, ends: Rows) -> Scores:
    """Return the share of the walk at ends of relationships; 0 at one that is no entity."""
    count = len(relevance.entities)
    return np.where(ends < count, relevance.entities[np.minimum(ends, count - 1)], 0.0)


def _claims(index: GraphIndex, entities: Iterable[int], budget: int) -> sections.Claims:
    claims = [claim for row in entities for claim in index.claims.get(row, ())]
    places, record_of = range(len(claims)), claims.__getitem__
    return sections.CLAIMS.fill(places, record_of, budget, index.token_counts, skip=True)


def _units(index: GraphIndex, relevance: Relevance, budget: int) -> sections.Units:
    """Return the text units that are worth most for their length, most relevant first."""
    rows, record_of = _by_worth(index, relevance), index.text_units.record
    chosen = sections.UNITS.fill(rows, record_of, budget, index.token_counts, skip=True)
    order = fuse(relevance.units, relevance.likeness)
    return sections.UNITS.reorder(
        chosen, sorted(chosen.rows, key=lambda row: (-order.item(row), row))
    )


def _by_worth(index: GraphIndex, relevance: Relevance) -> Iterator[int]:
    """Yield text units by what the walk leaves on them, then those that resemble the question.

    What the walk never meets and the question does not resemble is no filling either.
    """
    # The root of the length: by the length itself, scraps of text would come before passages.
    worth = relevance.units / index.text_units.bulk
    yield from _best_first(worth)
    yield from _best_first(np.where(worth > 0, 0.0, relevance.likeness))


def _best_first(scores: Scores) -> Iterator[int]:
    """Yield the rows of positive scores, best first; most are never asked for."""
    positive = int(np.count_nonzero(scores > 0))
    first = min(_FIRST, positive)
    yield from best_rows(scores, first).tolist()
    if positive > first:
        yield from best_rows(scores, positive)[first:].tolist()


_FIRST = 200
"""Text units that fill most contexts."""
