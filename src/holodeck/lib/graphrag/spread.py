"""Personalised PageRank over entities, relationships and text units.

A walker starts at what resembles the question and goes on along relationships and mentions: what it
meets often is relevant, whether or not it shares a word with the question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spread", "spread_over"]

DAMPING = 0.85
"""Share of steps that go on; the others start anew."""
STEPS = 25
"""Steps after which less than a fiftieth of the walk is still to come."""

Reals = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A graph to walk on: entities first, then text units.

    Attributes:
        entities: How many of the nodes are entities.
        nodes: How many nodes there are.
        sources: Node that each step leads from.
        targets: Node that each step leads to, in order: the sums go through memory once.
        shares: Probability of each step.
    """

    entities: int
    nodes: int
    sources: Rows
    targets: Rows
    shares: Reals

    def walk(self, seeds: Reals) -> tuple[Reals, Reals]:
        """Return how often a walk that starts at ``seeds`` is at each entity and each text unit.

        Seeds of which none is positive give zeros.
        """
        total = seeds.sum()
        if total <= 0:
            return np.zeros(self.entities), np.zeros(self.nodes - self.entities)
        start = seeds / total
        at = start
        for _ in range(STEPS):
            moved = at.take(self.sources) * self.shares
            gone_on = np.bincount(self.targets, weights=moved, minlength=self.nodes)
            at = (1 - DAMPING) * start + DAMPING * gone_on
        return at[: self.entities], at[self.entities :]


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
    order = np.argsort(ends, kind="stable")
    begins, ends, worth = begins[order], ends[order], worth[order]
    shares = worth / np.where(out[begins] > 0, out[begins], 1.0)
    return Spread(
        entities=entities,
        nodes=nodes,
        sources=begins,
        targets=ends,
        shares=shares,
    )
