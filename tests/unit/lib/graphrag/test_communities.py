"""Edges → a hierarchy of communities, whichever way they are grouped."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.communities import (
    MAX_COMMUNITY_SIZE,
    SCHEMES,
    Community,
    Edge,
    Scheme,
    find_communities,
)

pytestmark = pytest.mark.unit

both = pytest.mark.parametrize("scheme", SCHEMES)


def cliques(count: int, size: int, bridge: float = 0.1) -> list[Edge]:
    """Return a chain of ``count`` cliques of ``size`` entities each, joined by ``bridge``."""
    edges: list[Edge] = []
    for group in range(count):
        names = [f"{group:02d}-{member:02d}" for member in range(size)]
        edges += [(a, b, 1.0) for i, a in enumerate(names) for b in names[i + 1 :]]
        if group:
            edges.append((f"{group - 1:02d}-00", f"{group:02d}-00", bridge))
    return edges


def graphs(entities: int = 40) -> st.SearchStrategy[list[Edge]]:
    """Return graphs of any shape, repeated edges and weights without size included."""
    titles = st.integers(0, entities - 1).map("e{}".format)
    weights = st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.5, 100.0])
    edges = st.tuples(titles, titles, weights).filter(lambda edge: edge[0] != edge[1])
    return st.lists(edges, max_size=80)


def ends(edges: Sequence[Edge]) -> set[str]:
    return {title for edge in edges for title in edge[:2]}


def shape(found: Sequence[Community]) -> set[tuple[int, tuple[str, ...]]]:
    return {(community.level, community.members) for community in found}


@both
def test_every_component_gets_communities(scheme: Scheme) -> None:
    """Two things that nothing connects to the rest are a community all the same."""
    orion = [("Ann", "Orion", 1.0), ("Bob", "Orion", 1.0), ("Cara", "Orion", 1.0)]
    vega = [("Dan", "Vega", 1.0)]

    found = find_communities([*orion, *vega], scheme)

    members = [set(community.members) for community in found if community.level == 0]
    assert {"Dan", "Vega"} in members
    assert set().union(*members) == {"Ann", "Bob", "Cara", "Orion", "Dan", "Vega"}


@both
@settings(max_examples=40, deadline=None)
@given(edges=graphs(), seed=st.integers(0, 9))
def test_communities_are_a_function_of_the_graph(
    scheme: Scheme, edges: list[Edge], seed: int
) -> None:
    """Neither the order of the edges nor their direction changes anything, numbers included."""
    shuffled = list(edges)
    random.Random(seed).shuffle(shuffled)  # an order, not a secret
    turned = [(target, source, weight) for source, target, weight in shuffled]

    assert find_communities(edges, scheme) == find_communities(turned, scheme)


@both
@settings(max_examples=40, deadline=None)
@given(edges=graphs(), more=graphs(10))
def test_one_component_more_leaves_the_others_as_they_are(
    scheme: Scheme, edges: list[Edge], more: list[Edge]
) -> None:
    """A component is grouped alone: what is added elsewhere does not regroup it."""
    apart = [(f"apart {source}", f"apart {target}", weight) for source, target, weight in more]

    alone, together = find_communities(edges, scheme), find_communities([*edges, *apart], scheme)

    assert shape(together) == shape(alone) | shape(find_communities(apart, scheme))


@both
@settings(max_examples=60, deadline=None)
@given(edges=graphs())
def test_children_are_parts_of_their_parent(scheme: Scheme, edges: list[Edge]) -> None:
    """Level 0 has every entity once and no parent; level n+1 divides communities of level n."""
    found = find_communities(edges, scheme)

    assert [community.number for community in found] == list(range(len(found)))
    assert [community.level for community in found] == sorted(c.level for c in found)
    roots = [title for c in found if c.level == 0 for title in c.members]
    assert sorted(roots) == sorted(ends(edges))
    for level in {community.level for community in found}:
        here = [title for c in found if c.level == level for title in c.members]
        assert len(here) == len(set(here))
    for community in found:
        if community.level == 0:
            assert community.parent == -1
        else:
            parent = found[community.parent]
            assert parent.level == community.level - 1
            assert set(community.members) <= set(parent.members)


@both
def test_a_graph_without_edges_has_no_communities(scheme: Scheme) -> None:
    """No relationship, no community; that is not an error."""
    assert find_communities([], scheme) == []


@both
def test_a_large_community_is_divided_further(scheme: Scheme) -> None:
    """More than the greatest size is divided, where the graph has parts to divide it by."""
    found = find_communities(cliques(4, MAX_COMMUNITY_SIZE - 2), scheme)
    parents = {community.parent for community in found}
    leaves = [community for community in found if community.number not in parents]

    assert sorted(len(leaf.members) for leaf in leaves) == [MAX_COMMUNITY_SIZE - 2] * 4


@both
def test_communities_are_the_same_in_every_process(scheme: Scheme) -> None:
    """Nothing hangs on the order of sets, which differs from process to process."""
    code = (
        "from holodeck.lib.graphrag.communities import find_communities\n"
        "edges = [(f'e{n % 37}', f'e{n * n % 41}', 1.0) for n in range(1, 90)]\n"
        f"print(find_communities([e for e in edges if e[0] != e[1]], {scheme!r}))\n"
    )
    root = Path(__file__).parents[4] / "src"

    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(printed) == 1
