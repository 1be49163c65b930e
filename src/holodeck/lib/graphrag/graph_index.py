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
from holodeck.lib.graphrag.links import Links, Rows
from holodeck.lib.graphrag.search_words import SearchWords
from holodeck.lib.graphrag.spread import Spread
from holodeck.lib.graphrag.write_context import TokenCounts
from holodeck.lib.ranking.vectors import Vectors

__all__ = [
    "PROMPTS_FILE",
    "Communities",
    "Edges",
    "Entities",
    "GraphIndex",
    "TextUnits",
]

PROMPTS_FILE = "prompts.json"
"""The search prompts, kept beside the tables so that a search needs no library."""

Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class Entities:
    """The entities; ``edges`` and ``units`` are the relationships and text units of each."""

    ids: Sequence[str]
    numbers: Rows
    titles: Sequence[str]
    types: Sequence[str]
    descriptions: Sequence[str]
    degrees: Rows
    edges: Links
    units: Links

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def rarity(self) -> NDArray[np.float32]:
        """One by the text units that mention each."""
        return (1 / np.maximum(self.units.counts, 1)).astype(np.float32)

    def record(self, row: int) -> ContextEntity:
        """Return an entity as a context shows it."""
        return ContextEntity(
            number=int(self.numbers[row]),
            title=self.titles[row],
            description=self.descriptions[row],
            type=self.types[row],
            degree=int(self.degrees[row]),
        )


@dataclass(frozen=True, kw_only=True)
class Edges:
    """The relationships.

    Attributes:
        names: Titles of the entities, then those that no entity is named like.
        sources: Row in ``names`` of what each leads from.
        targets: Row in ``names`` of what each leads to.
        ranks: The greater, the more its two entities are connected.
        units: The text units that state each.
    """

    ids: Sequence[str]
    numbers: Rows
    names: Sequence[str]
    descriptions: Sequence[str]
    weights: NDArray[np.float64]
    sources: Rows
    targets: Rows
    ranks: Rows
    units: Links

    def __len__(self) -> int:
        return len(self.ids)

    def record(self, row: int) -> ContextRelationship:
        """Return a relationship as a context shows it."""
        return ContextRelationship(
            number=int(self.numbers[row]),
            source=self.names[self.sources[row]],
            target=self.names[self.targets[row]],
            description=self.descriptions[row],
            weight=float(self.weights[row]),
        )


@dataclass(frozen=True, kw_only=True)
class TextUnits:
    """The text units; a row is the number by which an answer refers to one.

    Attributes:
        lengths: Characters of each text.
        edges: The relationships that are stated in each.
        places: Where each stands.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    lengths: Rows
    edges: Links
    places: Sequence[Sequence[Place]]

    def __len__(self) -> int:
        return len(self.ids)

    def record(self, row: int) -> ContextTextUnit:
        """Return a text unit as a context shows it."""
        return ContextTextUnit(number=row, text=self.texts[row])


@dataclass(frozen=True, kw_only=True)
class Communities:
    """The communities, in table order; a row is not the number that answers refer to one by.

    Attributes:
        levels: 0 is the broadest.
        parents: Number of the community that each is a part of; -1 for a root.
    """

    numbers: Rows
    levels: Rows
    parents: Rows
    entities: Links
    text_units: Links

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def deepest_level(self) -> int:
        """The finest level there is; -1 without communities."""
        return int(self.levels.max(initial=-1))

    @cached_property
    def row_of(self) -> dict[int, int]:
        """Number → row."""
        return {number: row for row, number in enumerate(self.numbers.tolist())}

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Number → numbers of its parts, in table order; the roots are those of -1."""
        found: dict[int, list[int]] = {}
        known = self.row_of
        for number, parent in zip(self.numbers.tolist(), self.parents.tolist(), strict=True):
            found.setdefault(parent if parent in known else -1, []).append(number)
        return found

    def texts_of(self, number: int) -> list[int]:
        """Return the text units of a community."""
        found: list[int] = self.text_units.of(self.row_of[number]).tolist()
        return found

    def finest(self, level: int, entities: int) -> Rows:
        """Return, for each entity, the number of its finest community up to ``level``, or -1."""
        finest = np.full(entities, -1, dtype=np.int64)
        owners, rows = self.entities.owners, self.entities.rows
        for each in range(level + 1):
            here = self.levels[owners] == each
            finest[rows[here]] = self.numbers[owners[here]]
        return finest

    def every(self, level: int, entities: int) -> Links:
        """Return, for each entity, the numbers of its communities up to ``level``."""
        owners, rows = self.entities.owners, self.entities.rows
        here = self.levels[owners] <= level
        return Links.of_owners(rows[here], self.numbers[owners[here]], entities)


@dataclass(frozen=True, kw_only=True)
class GraphIndex:
    """One generation of an index.

    Attributes:
        claims: Row of an entity → claims about it, in table order.
        claim_units: Number of a claim → row of the text unit that makes it.
        reports: Community number → report, in table order.
        entity_vectors: Of title and description; ``None`` when there are no entities.
        unit_vectors: Of the text units' texts.
        words: What the records' words say of a question.
        spread: Entities, relationships and text units as one graph to walk on.
        prompts: The search prompts, by our names.
        token_counts: Of the lines that contexts are made of.
    """

    entities: Entities
    edges: Edges
    text_units: TextUnits
    claims: Mapping[int, Sequence[ContextClaim]]
    claim_units: Mapping[int, int]
    communities: Communities
    reports: Mapping[int, ContextReport]
    entity_vectors: Vectors | None
    unit_vectors: Vectors | None
    words: SearchWords
    spread: Spread
    prompts: Mapping[str, str] = field(default_factory=dict)
    token_counts: TokenCounts = field(default_factory=TokenCounts, repr=False)

    @property
    def vector_width(self) -> int | None:
        """Numbers in a vector; ``None`` where there are no vectors."""
        return next((each.width for each in (self.entity_vectors, self.unit_vectors) if each), None)

    @cached_property
    def deepest_level(self) -> int:
        """The finest level there is; -1 without communities."""
        return self.communities.deepest_level

    def finest_communities(self, level: int) -> Rows:
        """Return, for every entity, the number of its finest community of at most ``level``.

        -1 stands for none.
        """
        return self._of_level(
            "finest", level, lambda n: self.communities.finest(n, len(self.entities))
        )

    def all_communities(self, level: int) -> Links:
        """Return, for every entity, the numbers of its communities of every level up to it."""
        return self._of_level("all", level, lambda n: self.communities.every(n, len(self.entities)))

    def reported_communities(self, level: int) -> frozenset[int]:
        """Return the communities of every level up to ``level`` that have a report."""
        return self._of_level("reported", level, self._reported)

    @cached_property
    def _levels(self) -> dict[tuple[str, int], object]:
        return {}

    def _of_level(self, name: str, level: int, make: Callable[[int], Made]) -> Made:
        """Return what ``make`` says of a level, made once; levels past the deepest are one."""
        key = (name, min(level, self.deepest_level))
        if key not in self._levels:
            self._levels[key] = make(key[1])
        return self._levels[key]  # type: ignore[return-value]  # one kind for each name

    def _reported(self, level: int) -> frozenset[int]:
        here = self.communities.numbers[self.communities.levels <= level].tolist()
        return frozenset(number for number in here if number in self.reports)
