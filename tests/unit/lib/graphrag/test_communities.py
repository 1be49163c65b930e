"""Edges → a hierarchy of communities."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.communities import MAX_COMMUNITY_SIZE, Edge, find_communities

pytestmark = pytest.mark.unit


def cliques(count: int, size: int, bridge: float = 0.1) -> list[Edge]:
    """Return a chain of ``count`` cliques of ``size`` entities each, joined by ``bridge``."""
    edges: list[Edge] = []
    for group in range(count):
        names = [f"{group:02d}-{member:02d}" for member in range(size)]
        edges += [(a, b, 1.0) for i, a in enumerate(names) for b in names[i + 1 :]]
        if group:
            edges.append((f"{group - 1:02d}-00", f"{group:02d}-00", bridge))
    return edges


def test_every_component_gets_communities() -> None:
    """Two things that nothing connects to the rest are a community all the same."""
    orion = [("Ann", "Orion", 1.0), ("Bob", "Orion", 1.0), ("Cara", "Orion", 1.0)]
    vega = [("Dan", "Vega", 1.0)]

    members = [set(c.members) for c in find_communities([*orion, *vega]) if c.level == 0]

    assert {"Dan", "Vega"} in members
    assert set().union(*members) == {"Ann", "Bob", "Cara", "Orion", "Dan", "Vega"}


def test_the_order_of_the_edges_changes_nothing() -> None:
    """The communities are a function of the graph, numbers included."""
    edges = cliques(6, 6)
    shuffled = list(edges)
    random.Random(7).shuffle(shuffled)  # an order, not a secret
    turned = [(target, source, weight) for source, target, weight in shuffled]

    assert find_communities(edges) == find_communities(turned)


def test_one_component_more_leaves_the_others_as_they_are() -> None:
    """A component is clustered alone: what is added elsewhere does not regroup it."""
    edges = cliques(4, 5)
    before = {(c.level, c.members) for c in find_communities(edges)}
    after = {(c.level, c.members) for c in find_communities([*edges, ("zz-1", "zz-2", 1.0)])}

    assert after - before == {(0, ("zz-1", "zz-2"))}


def test_level_zero_is_the_broadest_and_children_divide_their_parent() -> None:
    """A community of level n+1 is a part of one of level n; level 0 has no parent."""
    found = {c.number: c for c in find_communities(cliques(30, 4, bridge=3.0))}

    assert {c.level for c in found.values()} >= {0, 1}
    for community in found.values():
        if community.level == 0:
            assert community.parent == -1
        else:
            parent = found[community.parent]
            assert parent.level == community.level - 1
            assert set(community.members) <= set(parent.members)


def test_numbers_are_contiguous_and_unique() -> None:
    """The numbers run from 0, broader levels first."""
    found = find_communities(cliques(5, 6))

    assert [c.number for c in found] == list(range(len(found)))
    assert [c.level for c in found] == sorted(c.level for c in found)


def test_a_graph_without_edges_has_no_communities() -> None:
    """No relationship, no community; that is not an error."""
    assert find_communities([]) == []


def test_a_large_community_is_divided_further() -> None:
    """More than the greatest size is divided, where the graph has parts to divide it by."""
    found = find_communities(cliques(4, MAX_COMMUNITY_SIZE - 2))
    parents = {c.parent for c in found}
    leaves = [c for c in found if c.number not in parents]

    assert all(len(c.members) <= MAX_COMMUNITY_SIZE for c in leaves)
