"""Personalised PageRank over entities, relationships and text units.

A walker starts at what resembles the question and goes on along relationships and mentions: what it
meets often is relevant, whether or not it shares a word with the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.graphrag.links import Links

__all__ = ["GREAT", "Spread", "spread_over"]

DAMPING = 0.85
"""Share of steps that go on; the others start anew."""
STEPS = 12
"""Steps that are walked; who is still under way then is where he is for good."""
UNDER_WAY = 0.05
"""Share that is still under way when a walk near its seeds ends before that."""
LEAST = 1e-4
"""Share of the walk at a node that is followed on where the graph is great, a tenth of it on each
step: it is walked near the seeds only, and not to all that a hub names. Tried on graphs that are
not great, what is cut off changes what one question in forty finds (bench/retrieval.py)."""
GREAT = 40_000
"""Steps of a graph from which on it is great."""

Reals = NDArray[np.floating]
Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A graph to walk on: entities first, then text units.

    Attributes:
        entities: How many of the nodes are entities.
        steps: The nodes that a step from each node leads to.
        shares: Probability of each step, in the order of ``steps.rows``.
    """

    entities: int
    steps: Links
    shares: NDArray[np.float32]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.steps.starts) - 1

    def walk(self, nodes: Rows, weights: Reals, least: float | None = None) -> tuple[Reals, Reals]:
        """Return how often a walk from ``nodes`` is at each entity and each text unit.

        Weights of which none is positive give zeros.

        Args:
            nodes: Where the walk begins; one that is there twice has both weights.
            weights: How often it begins at each.
            least: Share of the walk at a node below which it ends there; 0 follows all; default:
                by the size of the graph.
        """
        total = float(weights.sum())
        met = np.zeros(self.nodes)
        if total > 0:
            if least is None:
                least = LEAST if len(self.steps.rows) > GREAT else 0.0
            if least:
                self._walk_near(met, nodes, weights / total, least)
            else:
                self._walk_all(met, nodes, weights / total)
        return met[: self.entities], met[self.entities :]

    def _walk_all(self, met: Reals, nodes: Rows, weights: Reals) -> None:
        """Add to ``met`` how often the walk is at each node."""
        at = _sums(nodes, weights, len(met))
        met += (1 - DAMPING) * at
        for number in range(STEPS):
            moved = at.take(self._owners)
            moved *= self._damped
            at = _sums(self.steps.rows, moved, len(met))
            met += at if number == STEPS - 1 else (1 - DAMPING) * at

    def _walk_near(self, met: Reals, nodes: Rows, weights: Reals, least: float) -> None:
        """Add to ``met`` how often the walk is at each node, followed near its beginning only.

        Nothing in it is as long as the graph but one array of places.
        """
        near = _Near(len(met))
        at = _sums(near.places_of(nodes), weights, len(near.nodes))
        here = (1 - DAMPING) * at
        for number in range(STEPS):
            followed, counts = self._followed(near.nodes, at, least)
            if not len(followed):
                break
            taken = self._steps_from(near.nodes[followed], counts)
            places = near.places_of(self.steps.rows[taken])
            moved = np.repeat(DAMPING * at[followed], counts) * self.shares[taken]
            at = _sums(places, moved, len(near.nodes))
            is_last = number == STEPS - 1 or float(at.sum()) <= UNDER_WAY
            longer = at if is_last else (1 - DAMPING) * at
            longer[: len(here)] += here
            here = longer
            if is_last:
                break
        met[near.nodes] = here

    def _followed(self, nodes: Rows, at: Reals, least: float) -> tuple[Rows, Rows]:
        """Return the places of those that are followed, and how many steps lead from each."""
        places = np.flatnonzero(at > least)
        starts = self.steps.starts
        counts = starts[nodes[places] + 1] - starts[nodes[places]]
        kept = at[places] > 0.1 * least * counts
        return places[kept], counts[kept]

    def _steps_from(self, nodes: Rows, counts: Rows) -> Rows:
        """Return the steps from all of the nodes, of which so many lead from each."""
        ends = np.cumsum(counts)
        return np.arange(ends[-1]) + np.repeat(self.steps.starts[nodes] - ends + counts, counts)

    @cached_property
    def _owners(self) -> Rows:
        return self.steps.owners

    @cached_property
    def _damped(self) -> Reals:
        return DAMPING * self.shares.astype(np.float64)


class _Near:
    """The nodes that a walk came to, in the order in which it did.

    Args:
        count: How many nodes there are.
    """

    def __init__(self, count: int) -> None:
        self.nodes: Rows = np.zeros(0, dtype=np.int64)
        self._place = np.full(count, -1, dtype=np.int32)

    def places_of(self, nodes: Rows) -> NDArray[np.int32]:
        """Return the places of ``nodes`` in ``nodes`` of this, to which new ones are added."""
        place = self._place
        found: NDArray[np.int32] = place[nodes]
        new = nodes[found < 0]
        if len(new):
            # Each distinct one once, without sorting: the one of equal ones that was written last.
            numbers = np.arange(len(new), dtype=np.int32)
            place[new] = numbers
            new = new[place[new] == numbers]
            place[new] = len(self.nodes) + numbers[: len(new)]
            self.nodes = np.concatenate((self.nodes, new))
            found = place[nodes]
        return found


def _sums(places: NDArray[np.integer], weights: Reals, count: int) -> Reals:
    if not len(places):
        return np.zeros(count)  # numpy counts nothing in whole numbers
    # Its stubs say that weights give whole numbers.
    sums: NDArray[Any] = np.bincount(places, weights=weights, minlength=count)
    return sums


def spread_over(
    *,
    entities: int,
    units: int,
    sources: Rows,
    targets: Rows,
    weights: Reals,
    mentioned: Rows,
    mentions: Rows,
) -> Spread:
    """Return the graph to walk on.

    Args:
        entities: Number of entities.
        units: Number of text units.
        sources: Entity that each relationship leads from; it is walked both ways.
        targets: Entity that each leads to.
        weights: Weight of each relationship.
        mentioned: Entity of each mention.
        mentions: Text unit of each mention, in the same order.
    """
    # A mention counts by its rarity: an entity that is everywhere connects nothing.
    rarity = np.log1p(units / np.maximum(np.bincount(mentioned, minlength=entities), 1))
    mention = rarity[mentioned]
    heavy = np.maximum(weights, 0.0)
    begins = np.concatenate((sources, targets, mentioned, mentions + entities))
    ends = np.concatenate((targets, sources, mentions + entities, mentioned))
    worth = np.concatenate((heavy, heavy, mention, mention))
    nodes = entities + units
    out = np.bincount(begins, weights=worth, minlength=nodes)
    shares = worth / np.where(out[begins] > 0, out[begins], 1.0)
    order = np.argsort(begins, kind="stable")
    return Spread(
        entities=entities,
        steps=Links.of_owners(begins, ends, nodes),
        shares=shares[order].astype(np.float32),
    )
