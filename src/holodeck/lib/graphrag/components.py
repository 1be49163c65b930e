"""The edges of a graph, one connected component at a time, and what a component is grouped into.

Components come in canonical order, so that what is made of one depends on nothing else.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Edge", "Group", "Scheme", "connected_components"]

Edge = tuple[str, str, float]
"""Two entity titles, and the weight of what relates them."""


Scheme = Literal["leiden", "stable"]
"""How entities are grouped: the setting ``communities``."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Entities of one component that belong together.

    Attributes:
        level: 0 is the broadest.
        members: Entity titles, sorted.
        parent: The members of the group of the level above that it is a part of.
    """

    level: int
    members: tuple[str, ...]
    parent: tuple[str, ...] | None = None


def connected_components(edges: Iterable[Edge]) -> list[list[Edge]]:
    """Return the edges of each connected component, sorted; components by their least entity.

    Edges between the same two entities become one, with the sum of their weights. Neither the
    order of the edges nor their direction makes a difference.
    """
    weights: dict[tuple[str, str], list[float]] = defaultdict(list)
    for source, target, weight in edges:
        weights[min(source, target), max(source, target)].append(weight)
    leaders = _leaders(weights)
    components: dict[str, list[Edge]] = defaultdict(list)
    for source, target in sorted(weights):
        # fsum: a plain sum depends on the order
        edge = (source, target, math.fsum(weights[source, target]))
        components[leaders[source]].append(edge)
    return [components[title] for title in sorted(components)]


def _leaders(pairs: Mapping[tuple[str, str], object]) -> dict[str, str]:
    """Return entity → the least entity of its component."""
    leader: dict[str, str] = {}

    def find(title: str) -> str:
        while leader.setdefault(title, title) != title:
            leader[title] = leader[leader[title]]
            title = leader[title]
        return title

    for source, target in pairs:
        low, high = sorted((find(source), find(target)))
        leader[high] = low
    return {title: find(title) for title in leader}
