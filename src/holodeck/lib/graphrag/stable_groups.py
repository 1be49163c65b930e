"""``communities: stable``: one component → groups that a change elsewhere leaves as they are.

Clusters grow from single entities: again and again the two neighbours with the greatest affinity
become one, as long as the two fit into the size of the level. Affinity is the weight between two
clusters over the geometric mean of all the weight at each. Joining never makes two clusters more
alike to a third than the better of them was, so each pair that prefer each other join whatever
happens elsewhere, and what one edge changes stays near it: there is no history, no chance, and no
figure of the whole graph that a decision could hang on. Equal affinities go by hashes of titles,
which one title more does not shift.

Growing by neighbours that prefer each other: Bateni and others: Affinity Clustering: Hierarchical
Clustering at Scale (2017). That the order of such joins does not matter: Dhulipala and others:
Hierarchical Agglomerative Graph Clustering in Nearly-Linear Time (2021).
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from holodeck.lib.graphrag.components import Edge, Group

__all__ = ["stable_groups"]

GROWTH = 5
"""How many times larger the groups of the next broader level may be."""
BREADTH = 1.25
"""Size of the broadest groups, in roots of the component's size.

Groups of the greatest modularity grow with that root too: Fortunato and Barthélemy: Resolution
limit in community detection (2007).
"""
SMALL = 0.3
"""Share of the size of a level that a cluster fills at most to be gathered with its siblings."""
GRAIN = 1 / 1024
"""The unit of weights: sums of whole numbers are the same in every order."""
MARK_BITS = 64


def stable_groups(edges: Sequence[Edge], max_size: int) -> list[Group]:
    """Group a component: at most ``max_size`` entities on the finest level, more on broader ones.

    A group that a broader level would only repeat stands once, and a single entity is no group
    below level 0.
    """
    clusters = _Clusters(edges)
    partitions = []
    for size in _sizes(clusters.entities, max_size):
        clusters.join_neighbours(size)
        clusters.gather_siblings(size)
        partitions.append(clusters.partition())
    return _hierarchy(partitions[::-1])


def _sizes(entities: int, max_size: int) -> Iterator[int]:
    """Yield the greatest size of a group, finest level first."""
    yield max_size
    size = max_size * GROWTH
    if entities > max_size:
        yield size
    while size < BREADTH * math.sqrt(entities):
        size *= GROWTH
        yield size


class _Clusters:
    """The clusters of a component as they grow; each is known by the number of an entity.

    Numbers are names only: no decision looks at them.
    """

    def __init__(self, edges: Sequence[Edge]) -> None:
        titles = sorted({title for edge in edges for title in edge[:2]})
        self.entities = len(titles)
        numbers = {title: number for number, title in enumerate(titles)}
        self._members: dict[int, list[str]] = {numbers[title]: [title] for title in titles}
        # For each cluster: its neighbours with the weight between, all weight at its entities,
        # and the least hash of a title in it.
        self._links: dict[int, dict[int, int]] = {number: {} for number in numbers.values()}
        self._strength = dict.fromkeys(numbers.values(), 0)
        self._mark = {numbers[title]: _hash(title) for title in titles}
        for source, target, weight in edges:
            grains = max(1, round(weight / GRAIN))
            for one, other in ((source, target), (target, source)):
                self._links[numbers[one]][numbers[other]] = grains
                self._strength[numbers[one]] += grains

    def partition(self) -> list[tuple[str, ...]]:
        """Return the members of every cluster."""
        return [tuple(sorted(members)) for members in self._members.values()]

    def join_neighbours(self, size: int) -> None:
        """Join the neighbours of the greatest affinity until no two fit into ``size``."""
        waiting = [
            self._candidate(one, other)
            for one, links in self._links.items()
            for other in links
            if one < other and self._fit(one, other, size)
        ]
        heapq.heapify(waiting)
        while waiting:
            candidate = heapq.heappop(waiting)
            one, other = candidate[-2:]
            if other not in self._links.get(one, ()) or not self._fit(one, other, size):
                continue
            current = self._candidate(one, other)
            if candidate != current:  # one of them grew meanwhile: less alike than it was
                heapq.heappush(waiting, current)
                continue
            grown, new = self._join(one, other)
            for near in new:
                if self._fit(grown, near, size):
                    heapq.heappush(waiting, self._candidate(grown, near))

    def gather_siblings(self, size: int) -> None:
        """Join small clusters that hang on one neighbour which has no room for them.

        Such are the many that only one hub knows. Nothing but their titles could divide them.
        """
        hanging: dict[int, list[int]] = defaultdict(list)
        for cluster, links in self._links.items():
            if links and len(self._members[cluster]) <= SMALL * size:
                hub = min(links, key=lambda near: (-links[near], self._mark[near]))
                hanging[hub].append(cluster)
        for siblings in hanging.values():
            self._pack(siblings, size, MARK_BITS)

    def _pack(self, siblings: list[int], size: int, bits: int) -> None:
        """Join siblings whose hashes begin alike, as many as fit: one more moves few others."""
        if len(siblings) < 2:
            return
        if sum(len(self._members[each]) for each in siblings) <= size:
            joined = siblings[0]
            for each in siblings[1:]:
                joined, _ = self._join(joined, each)
        elif bits:
            halves: tuple[list[int], list[int]] = ([], [])
            for each in siblings:
                halves[self._mark[each] >> (bits - 1) & 1].append(each)
            for half in halves:
                self._pack(half, size, bits - 1)

    def _fit(self, one: int, other: int, size: int) -> bool:
        return len(self._members[one]) + len(self._members[other]) <= size

    def _candidate(self, one: int, other: int) -> tuple[float, int, int, int, int]:
        """Return a pair in the order in which pairs are joined."""
        mark, strength = self._mark, self._strength
        if (mark[other], other) < (mark[one], one):
            one, other = other, one
        weight = self._links[one][other]
        # The square of the affinity: it orders alike, and is one division of whole numbers.
        affinity = weight * weight / (strength[one] * strength[other])
        return (-affinity, mark[one], mark[other], one, other)

    def _join(self, one: int, other: int) -> tuple[int, list[int]]:
        """Make one cluster of two; return it, and its neighbours whose link to it is new or more.

        The one with fewer neighbours goes into the other.
        """
        kept, gone = one, other
        if len(self._links[one]) < len(self._links[other]):
            kept, gone = other, one
        links = self._links[kept]
        links.pop(gone, None)
        new = self._links.pop(gone)
        new.pop(kept, None)
        for near, weight in new.items():
            del self._links[near][gone]
            links[near] = self._links[near][kept] = links.get(near, 0) + weight
        self._members[kept] += self._members.pop(gone)
        self._strength[kept] += self._strength.pop(gone)
        self._mark[kept] = min(self._mark[kept], self._mark.pop(gone))
        return kept, list(new)


def _hash(title: str) -> int:
    digest = blake2b(title.encode("utf-8", "surrogatepass"), digest_size=MARK_BITS // 8).digest()
    return int.from_bytes(digest)


def _hierarchy(partitions: Sequence[Sequence[tuple[str, ...]]]) -> list[Group]:
    """Return the groups of partitions that each divide the one before."""
    groups: list[Group] = []
    finest: dict[str, Group] = {}
    for partition in partitions:
        for members in partition:
            above = finest.get(members[0])
            if above is not None and len(members) in (1, len(above.members)):
                continue
            group = Group(
                level=0 if above is None else above.level + 1,
                members=members,
                parent=None if above is None else above.members,
            )
            groups.append(group)
            finest |= dict.fromkeys(members, group)
    return groups
