"""Entities and relationships → a hierarchy of communities.

One connected component at a time, in canonical order, so that the numbering is a function of the
graph and no component is left out. Level 0 is the root, the broadest. An entity without
relationships has no community.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holodeck.lib.contracts import Progress
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.components import Edge, Group, Scheme, connected_components
from holodeck.lib.graphrag.leiden_groups import leiden_groups
from holodeck.lib.graphrag.stable_groups import stable_groups
from holodeck.lib.graphrag.tables import read_rows, write_rows

__all__ = [
    "MAX_COMMUNITY_SIZE",
    "SCHEMES",
    "Community",
    "Edge",
    "Scheme",
    "cluster",
    "find_communities",
]

MAX_COMMUNITY_SIZE = 10
"""Entities of a community that is not divided further."""

ROOT = -1
"""The parent of a community of level 0."""

SCHEMES: Mapping[Scheme, Callable[[Sequence[Edge], int], list[Group]]] = {
    "leiden": leiden_groups,
    "stable": stable_groups,
}
"""Scheme → groups of one component's edges, none divided further that has at most so many members.

A scheme looks at nothing but these edges, and makes the same of them in any process.
"""


@dataclass(frozen=True, kw_only=True)
class Community:
    """A group of entities.

    Attributes:
        number: Its number in the table, 0..n-1; broader levels first.
        parent: The number of the community it is part of, or -1.
        members: Entity titles, sorted.
    """

    number: int
    level: int
    parent: int
    members: tuple[str, ...]


async def cluster(build: Build) -> None:
    """Write ``communities`` from ``entities`` and ``relationships``."""
    entities = read_rows(build.output, "entities", ["id", "title"])
    relationships = read_rows(
        build.output, "relationships", ["id", "source", "target", "weight", "text_unit_ids"]
    )
    edges = [(row["source"], row["target"], row["weight"]) for row in relationships]
    communities = find_communities(edges, build.communities)
    entity_ids = {row["title"]: row["id"] for row in entities}
    write_rows(build.output, "communities", _rows(communities, entity_ids, relationships))
    isolated = len(entities) - len({title for c in communities for title in c.members})
    build.counts["isolated_entities"] = isolated
    build.report(Progress(step="communities", done=len(communities), total=len(communities)))


def find_communities(edges: Iterable[Edge], scheme: Scheme) -> list[Community]:
    """Return the communities of a graph given by its weighted edges.

    Edges between the same two entities count as one, with the sum of their weights. The result
    does not depend on the order of the edges.
    """
    found = [
        (group.level, index, group.members, group)
        for index, component in enumerate(connected_components(edges))
        for group in SCHEMES[scheme](component, MAX_COMMUNITY_SIZE)
    ]
    found.sort(key=lambda item: item[:3])
    numbers = {(item[0], item[2]): number for number, item in enumerate(found)}
    return [
        Community(
            number=number,
            level=level,
            parent=ROOT if group.parent is None else numbers[level - 1, group.parent],
            members=members,
        )
        for number, (level, _, members, group) in enumerate(found)
    ]


def _rows(
    communities: Sequence[Community],
    entity_ids: Mapping[str, str],
    relationships: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    inside = _relationships_inside(communities, relationships)
    children: dict[int, list[int]] = defaultdict(list)
    for community in communities:
        children[community.parent].append(community.number)
    return [
        {
            "id": content_id("community", str(community.level), *community.members),
            "human_readable_id": community.number,
            "community": community.number,
            "level": community.level,
            "parent": community.parent,
            "children": children[community.number],
            "title": f"Community {community.number}",
            "entity_ids": sorted(entity_ids[title] for title in community.members),
            "relationship_ids": [row["id"] for row in inside[community.number]],
            "text_unit_ids": sorted(
                {unit for row in inside[community.number] for unit in row["text_unit_ids"]}
            ),
            # The library writes the day of the build here and reads it in its own updates only;
            # a day would make two builds of the same documents differ.
            "period": "",
            "size": len(community.members),
        }
        for community in communities
    ]


def _relationships_inside(
    communities: Sequence[Community], relationships: Sequence[Mapping[str, Any]]
) -> dict[int, list[Mapping[str, Any]]]:
    """Return, for each community, the relationships that have both ends in it."""
    of_title: dict[str, dict[int, int]] = defaultdict(dict)
    for community in communities:
        for title in community.members:
            of_title[title][community.level] = community.number
    inside: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in relationships:
        target = of_title[row["target"]]
        for level, number in of_title[row["source"]].items():
            if target.get(level) == number:
                inside[number].append(row)
    return inside
