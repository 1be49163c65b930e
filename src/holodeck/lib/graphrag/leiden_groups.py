"""``communities: leiden``: one component → groups, by the library's hierarchical Leiden.

It finds the groups of the greatest modularity, and one edge more may move any of them: see
``stable_groups`` for the other way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from holodeck.lib.graphrag.components import Edge, Group
from holodeck.lib.graphrag.library import hierarchical_leiden

__all__ = ["leiden_groups"]


def leiden_groups(edges: Sequence[Edge], max_size: int) -> list[Group]:
    """Divide a component; groups of more than ``max_size`` are divided as far as Leiden can."""
    titles: dict[tuple[int, int], set[str]] = defaultdict(set)
    parents: dict[int, int | None] = {}
    for node in hierarchical_leiden(edges, max_size):
        titles[node.level, node.cluster].add(node.title)
        parents[node.cluster] = node.parent
    members = {key: tuple(sorted(found)) for key, found in titles.items()}
    return [
        Group(
            level=level,
            members=members[level, number],
            parent=None if (above := parents[number]) is None else members[level - 1, above],
        )
        for level, number in sorted(members)
    ]
