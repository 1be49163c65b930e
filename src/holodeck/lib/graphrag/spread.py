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
LEAST = 1e-4
"""Share of the walk at a node that is followed on where the graph is great: it is walked near the
seeds only. What is cut off comes to no text that a context has room for (bench/retrieval.py)."""
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

    def walk(self, seeds: Reals, least: float | None = None) -> tuple[Reals, Reals]:
        """Return how often a walk that starts at ``seeds`` is at each entity and each text unit.

        Seeds of which none is positive give zeros.

        Args:
            seeds: Weight of each node as a beginning.
            least: Share of the walk at a node below which it ends there; 0 follows all; default:
                by the size of the graph.
        """
        total = seeds.sum()
        if total <= 0:
            return np.zeros(self.entities), np.zeros(self.nodes - self.entities)
        if least is None:
            least = LEAST if len(self.steps.rows) > GREAT else 0.0
        at = seeds / total
        met = (1 - DAMPING) * at
        for number in range(STEPS):
            at = DAMPING * (self._step_near(at, least) if least else self._step(at))
            # The last step stands for all that would follow.
            met += at if number == STEPS - 1 else (1 - DAMPING) * at
        return met[: self.entities], met[self.entities :]

    @cached_property
    def _owners(self) -> Rows:
        return self.steps.owners

    def _step(self, at: Reals) -> Reals:
        """Return where all are after one step."""
        return self._arrive(self.steps.rows, at.take(self._owners) * self.shares)

    def _step_near(self, at: Reals, least: float) -> Reals:
        """Return where those are after one step of whom there are more than ``least`` at a node."""
        nodes = np.flatnonzero(at > least)
        starts = self.steps.starts[nodes]
        counts = self.steps.starts[nodes + 1] - starts
        ends = np.cumsum(counts)
        if not len(nodes) or not ends[-1]:
            return np.zeros(self.nodes)
        taken = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        moved = np.repeat(at[nodes], counts) * self.shares[taken]
        return self._arrive(self.steps.rows[taken], moved)

    def _arrive(self, nodes: Rows, shares: Reals) -> Reals:
        # Its stubs say that weights give whole numbers.
        arrived: NDArray[Any] = np.bincount(nodes, weights=shares, minlength=self.nodes)
        return arrived


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
