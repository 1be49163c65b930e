"""One component → groups that hardly change when something is added."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.graphrag.components import Edge, Group, connected_components
from holodeck.lib.graphrag.stable_groups import stable_groups

pytestmark = pytest.mark.unit

SIZE = 10


@st.composite
def connected(draw: st.DrawFn) -> list[Edge]:
    """Return a connected graph: a tree, whose shape goes from star to chain, and edges across."""
    count = draw(st.integers(2, 90))
    reach = draw(st.sampled_from([1, 3, 10, count]))
    numbers = random.Random(draw(st.integers(0, 99)))  # a shape, not a secret
    pairs = {(numbers.randrange(max(0, n - reach), n), n) for n in range(1, count)}
    for _ in range(draw(st.integers(0, 60))):
        pairs.add(tuple(sorted(numbers.sample(range(count), 2))))  # type: ignore[arg-type]  # two
    return [(f"e{a}", f"e{b}", numbers.choice([0.5, 1.0, 2.0])) for a, b in sorted(pairs)]


def star(*spokes: int) -> list[Edge]:
    return [("hub", f"spoke {spoke}", 1.0) for spoke in spokes]


def finest(groups: Sequence[Group]) -> list[tuple[str, ...]]:
    """Return the members of the groups that are not divided."""
    parents = {(group.level - 1, group.parent) for group in groups}
    return [group.members for group in groups if (group.level, group.members) not in parents]


@settings(max_examples=80, deadline=None)
@given(edges=connected())
def test_sizes_are_bounded(edges: list[Edge]) -> None:
    """Up to ten entities on the finest level, up to fifty on the one above."""
    groups = stable_groups(edges, SIZE)

    assert max(len(members) for members in finest(groups)) <= SIZE
    assert max(len(group.members) for group in groups) <= 5 * SIZE


@settings(max_examples=60, deadline=None)
@given(edges=connected())
def test_no_group_repeats_its_parent_or_is_one_entity(edges: list[Edge]) -> None:
    """Each report below level 0 tells of two entities at least, and of fewer than its parent's."""
    for group in stable_groups(edges, SIZE):
        if group.parent is not None:
            assert 1 < len(group.members) < len(group.parent)


def test_a_component_that_fits_is_one_group() -> None:
    """What is small enough for one report is not divided."""
    edges = [(f"e{n}", f"e{n + 1}", 1.0) for n in range(SIZE - 1)]

    (group,) = stable_groups(edges, SIZE)

    assert (group.level, group.parent, len(group.members)) == (0, None, SIZE)


def test_entities_go_with_those_that_they_are_related_to_most() -> None:
    """A bridge between two groups that are dense inside joins them on the broad level only."""
    ships = [f"ship {n}" for n in range(7)]
    ports = [f"port {n}" for n in range(7)]
    inside = [
        (one, other, 1.0)
        for names in (ships, ports)
        for index, one in enumerate(names)
        for other in names[index + 1 :]
    ]

    groups = stable_groups([*inside, ("ship 0", "port 0", 1.0)], SIZE)

    assert sorted((group.level, group.members) for group in groups) == [
        (0, tuple(sorted(ships + ports))),
        (1, tuple(ports)),
        (1, tuple(ships)),
    ]


def test_one_spoke_more_changes_few_groups_of_a_star() -> None:
    """What only titles can divide is divided so that a new title joins a group and moves few."""
    before = {group.members for group in stable_groups(star(*range(400)), SIZE)}
    after = {group.members for group in stable_groups(star(*range(401)), SIZE)}

    assert len(before) > 60
    # On each of its two levels: the group that it joins or halves, and the hub's own.
    assert len(before - after) <= 4


def test_what_is_added_far_away_leaves_a_group_as_it_is() -> None:
    """On a chain of triangles an addition at one end changes nothing but that end."""
    chain = [
        edge
        for n in range(60)
        for edge in (
            (f"a{n:02}", f"b{n:02}", 1.0),
            (f"b{n:02}", f"c{n:02}", 1.0),
            (f"c{n:02}", f"a{n:02}", 1.0),
            (f"c{n:02}", f"a{n + 1:02}", 1.0),
        )
    ]
    before = {group.members for group in stable_groups(chain, SIZE)}
    after = {group.members for group in stable_groups([*chain, ("a00", "new", 3.0)], SIZE)}

    for members in before - after:
        assert min(members) < "a25"
    assert len(before - after) <= 4


def documents(count: int) -> list[list[Edge]]:
    """Return the facts of documents, each about a thing of its own; early ones are named often."""
    numbers = random.Random(3)  # a shape, not a secret
    titles: list[str] = []
    found = []
    for document in range(count):
        subject = f"subject {document}"
        facts = []
        for fact in range(9):
            new = f"thing {document}.{fact}"
            known = titles[int(len(titles) * numbers.random() ** 2)] if titles else new
            facts.append((subject, known if numbers.random() < 0.1 else new, 1.0))
        titles += [end for edge in facts for end in edge[:2]]
        found.append(facts)
    return found


def test_one_document_more_changes_few_groups_of_a_graph_with_hubs() -> None:
    """Of several hundred groups, a document changes one in forty on the average."""
    facts = documents(300)
    numbers = range(0, 300, 20)

    def groups(left_out: int | None) -> set[tuple[str, ...]]:
        edges = [edge for n, each in enumerate(facts) if n != left_out for edge in each]
        return {
            group.members
            for component in connected_components(edges)
            for group in stable_groups(component, SIZE)
        }

    whole = groups(None)
    changed = [len(whole - groups(left_out)) for left_out in numbers]

    assert len(whole) > 300
    assert sum(changed) / len(changed) <= len(whole) / 40
