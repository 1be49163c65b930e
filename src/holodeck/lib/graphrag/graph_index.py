"""An index opened for search: the columns of one generation's tables, its links and its vectors.

A record is known by its row in its table. What a search reads for every candidate is a numpy
column; the records that a context shows are made when they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import (
    ContextClaim,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    ContextTextUnit,
)
from holodeck.lib.documents import Place
from holodeck.lib.graphrag.search_words import SearchWords
from holodeck.lib.graphrag.spread import Spread, spread_over
from holodeck.lib.graphrag.write_context import TokenCounts

__all__ = [
    "PROMPTS_FILE",
    "Community",
    "Edges",
    "Entities",
    "GraphIndex",
    "Links",
    "TextUnits",
    "Vectors",
]

PROMPTS_FILE = "prompts.json"
"""The search prompts, kept beside the tables so that a search needs no library."""

Rows = NDArray[np.int64]
Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class Links:
    """Which rows of one table belong to each row of another, in the order of the table.

    Attributes:
        starts: ``rows[starts[i]:starts[i + 1]]`` belong to row ``i``.
    """

    starts: Rows
    rows: Rows

    def of(self, row: int) -> Rows:
        """Return the rows that belong to ``row``."""
        return self.rows[self.starts[row] : self.starts[row + 1]]

    def count_within(self, row: int, wanted: NDArray[np.bool_]) -> int:
        """Return how many of the rows that belong to ``row`` are wanted."""
        return int(np.count_nonzero(wanted[self.of(row)]))

    @property
    def counts(self) -> Rows:
        """How many rows belong to each row."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Rows:
        """For every entry of ``rows``, the row that it belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), self.counts)

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[int]]) -> Links:
        """Return the links that lists of rows, one for each row, stand for."""
        sizes = np.fromiter((len(each) for each in lists), dtype=np.int64, count=len(lists))
        flat = [row for each in lists for row in each]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        return cls(starts=starts.astype(np.int64), rows=np.asarray(flat, dtype=np.int64))

    @classmethod
    def of_owners(cls, owners: Rows, rows: Rows, count: int) -> Links:
        """Return the links of ``count`` rows from pairs; pairs of one owner keep their order."""
        order = np.argsort(owners, kind="stable")
        sizes = np.bincount(owners, minlength=count)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        return cls(starts=starts.astype(np.int64), rows=rows[order])


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """A vector table: ``matrix[i]`` belongs to row ``rows[i]`` of the table that it describes."""

    rows: Rows
    matrix: NDArray[np.float32]

    @cached_property
    def _squares(self) -> NDArray[np.float32]:
        squares: NDArray[np.float32] = np.einsum("ij,ij->i", self.matrix, self.matrix)
        return squares

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.matrix.shape[1])

    def similarities(self, query: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        """Return the dot product with each of ``count`` rows; 0 for a row without a vector."""
        found = np.zeros(count, dtype=np.float32)
        found[self.rows] = self.matrix @ query
        return found

    def nearest(self, query: NDArray[np.float32], count: int) -> Rows:
        """Return the rows of the ``count`` vectors nearest to ``query``, exactly; ties by row.

        Near is the Euclidean distance, as in the store of the library.
        """
        distances = self._squares - 2 * (self.matrix @ query)
        places = np.arange(distances.size)
        if count < distances.size:
            greatest = np.partition(distances, count)[count]
            places = np.flatnonzero(distances <= greatest)
        order = np.lexsort((self.rows[places], distances[places]))
        nearest: Rows = self.rows[places[order]][:count]
        return nearest


@dataclass(frozen=True, kw_only=True)
class Entities:
    """The entities; ``edges`` and ``units`` are the relationships and text units of each."""

    ids: Sequence[str]
    numbers: Sequence[int]
    titles: Sequence[str]
    types: Sequence[str]
    descriptions: Sequence[str]
    degrees: Sequence[int]
    edges: Links
    units: Links

    def __len__(self) -> int:
        return len(self.ids)

    def record(self, row: int) -> ContextEntity:
        """Return an entity as a context shows it."""
        return ContextEntity(
            number=self.numbers[row],
            title=self.titles[row],
            description=self.descriptions[row],
            type=self.types[row],
            degree=self.degrees[row],
        )


@dataclass(frozen=True, kw_only=True)
class Edges:
    """The relationships.

    Attributes:
        sources: Row of the entity that each leads from; a row past the last entity is a title
            that the index holds no entity for.
        targets: Row of the entity that each leads to.
        ranks: The greater, the more its two entities are connected.
    """

    ids: Sequence[str]
    numbers: Sequence[int]
    source_titles: Sequence[str]
    target_titles: Sequence[str]
    descriptions: Sequence[str]
    weights: Sequence[float]
    sources: Rows
    targets: Rows
    ranks: Rows

    def __len__(self) -> int:
        return len(self.ids)

    def record(self, row: int) -> ContextRelationship:
        """Return a relationship as a context shows it."""
        return ContextRelationship(
            number=self.numbers[row],
            source=self.source_titles[row],
            target=self.target_titles[row],
            description=self.descriptions[row],
            weight=self.weights[row],
        )


@dataclass(frozen=True, kw_only=True)
class TextUnits:
    """The text units; a row is the number by which an answer refers to one.

    Attributes:
        edges: The relationships that are stated in each.
        places: Where each stands.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    edges: Links
    places: Sequence[Sequence[Place]]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Characters of each text."""
        return np.fromiter(map(len, self.texts), dtype=np.float64, count=len(self.texts))

    def record(self, row: int) -> ContextTextUnit:
        """Return a text unit as a context shows it."""
        return ContextTextUnit(number=row, text=self.texts[row])


@dataclass(frozen=True, kw_only=True)
class Community:
    """A community of the opened index; level 0 is the broadest."""

    number: int
    level: int
    entities: Sequence[int]
    text_units: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class GraphIndex:
    """One generation of an index.

    Attributes:
        claims: Entity title → claims about it, in table order.
        communities: Community number → record, in table order.
        reports: Community number → report.
        entity_vectors: Of title and description; ``None`` when there are no entities.
        unit_vectors: Of the text units' texts.
        prompts: The search prompts, by our names.
        token_counts: Of the lines that contexts were made of so far.
    """

    entities: Entities
    edges: Edges
    text_units: TextUnits
    claims: Mapping[str, Sequence[ContextClaim]]
    communities: Mapping[int, Community]
    reports: Mapping[int, ContextReport]
    entity_vectors: Vectors | None
    unit_vectors: Vectors | None
    prompts: Mapping[str, str] = field(default_factory=dict)
    token_counts: TokenCounts = field(default_factory=TokenCounts, repr=False)

    @property
    def vector_width(self) -> int | None:
        """Numbers in a vector; ``None`` where there are no vectors."""
        return next((each.width for each in (self.entity_vectors, self.unit_vectors) if each), None)

    @cached_property
    def deepest_level(self) -> int:
        """The finest level there is; -1 without communities."""
        return max((community.level for community in self.communities.values()), default=-1)

    def finest_communities(self, level: int) -> dict[int, int]:
        """Return, for every entity that has one, its finest community of at most ``level``."""
        return self._of_level("finest", level, self._finest)

    def all_communities(self, level: int) -> dict[int, list[int]]:
        """Return, for every entity that has one, its communities of every level up to ``level``."""
        return self._of_level("all", level, self._all)

    def reported_communities(self, level: int) -> frozenset[int]:
        """Return the communities of every level up to ``level`` that have a report."""
        return self._of_level("reported", level, self._reported)

    @cached_property
    def words(self) -> SearchWords:
        """What the records' words say of a question; made when it is first asked for."""
        return SearchWords(
            titles=self.entities.titles,
            entities=self.entities.descriptions,
            edges=self.edges.descriptions,
            units=self.text_units.texts,
        )

    @cached_property
    def spread(self) -> Spread:
        """Entities, relationships and text units as one graph to walk on."""
        count = len(self.entities)
        known = (self.edges.sources < count) & (self.edges.targets < count)
        return spread_over(
            entities=count,
            units=len(self.text_units),
            sources=self.edges.sources[known],
            targets=self.edges.targets[known],
            weights=np.asarray(self.edges.weights, dtype=np.float64)[known],
            mentioned=self.entities.units.owners,
            mentions=self.entities.units.rows,
        )

    @cached_property
    def _levels(self) -> dict[tuple[str, int], dict[int, object]]:
        return {}

    def _of_level(self, name: str, level: int, make: Callable[[int], Made]) -> Made:
        """Return what ``make`` says of a level, made once; levels past the deepest are one."""
        key = (name, min(level, self.deepest_level))
        if key not in self._levels:
            self._levels[key] = make(key[1])  # type: ignore[assignment]  # one kind for each name
        return self._levels[key]  # type: ignore[return-value]  # as above

    def _finest(self, level: int) -> dict[int, int]:
        finest: dict[int, int] = {}
        for community in sorted(self.communities.values(), key=lambda c: c.level):
            if community.level <= level:
                finest |= dict.fromkeys(community.entities, community.number)
        return finest

    def _reported(self, level: int) -> frozenset[int]:
        known = self.communities.keys() & self.reports.keys()
        return frozenset(number for number in known if self.communities[number].level <= level)

    def _all(self, level: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for community in self.communities.values():
            if community.level <= level:
                for row in community.entities:
                    found.setdefault(row, []).append(community.number)
        return found
