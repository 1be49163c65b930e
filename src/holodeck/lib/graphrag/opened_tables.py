"""The tables of an index opened for search, by columns.

A record is known by its row in its table. What a search reads for every candidate is a numpy
column; the records that a context shows are made when they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import (
    ContextEntity,
    ContextRelationship,
    ContextReport,
    ContextTextUnit,
)
from holodeck.lib.documents import Place
from holodeck.lib.graphrag.links import Links, Rows

__all__ = ["Communities", "Edges", "Entities", "Reports", "TextUnits"]


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
            number=self.numbers.item(row),
            title=self.titles[row],
            description=self.descriptions[row],
            type=self.types[row],
            degree=self.degrees.item(row),
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
            number=self.numbers.item(row),
            source=self.names[self.sources.item(row)],
            target=self.names[self.targets.item(row)],
            description=self.descriptions[row],
            weight=self.weights.item(row),
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

    @cached_property
    def bulk(self) -> NDArray[np.float64]:
        """The root of the length of each."""
        return np.sqrt(np.maximum(self.lengths, 1.0))

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

    def finest(self, level: int, entities: int, reported: Rows) -> Rows:
        """Return, for each entity, the number of its finest community up to ``level``, or -1.

        Only those count that are among ``reported``.
        """
        finest = np.full(entities, -1, dtype=np.int64)
        owners, rows = self.entities.owners, self.entities.rows
        has_report = np.isin(self.numbers, reported)[owners]
        for each in range(level + 1):
            here = (self.levels[owners] == each) & has_report
            finest[rows[here]] = self.numbers[owners[here]]
        return finest

    def every(self, level: int, entities: int) -> Links:
        """Return, for each entity, the numbers of its communities up to ``level``."""
        owners, rows = self.entities.owners, self.entities.rows
        here = self.levels[owners] <= level
        return Links.of_owners(rows[here], self.numbers[owners[here]], entities)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reports(Mapping[int, ContextReport]):
    """Community number → report; each is made once.

    Attributes:
        ranks: Importance of each, 0 to 10.
        tokens: Of each in a batch; without any: not counted.
    """

    numbers: Rows
    ranks: NDArray[np.float64]
    titles: Sequence[str]
    contents: Sequence[str]
    summaries: Sequence[str]
    tokens: NDArray[np.int32] | None = None
    _made: dict[int, ContextReport] = field(init=False, default_factory=dict, repr=False)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {number: row for row, number in enumerate(self.numbers.tolist())}

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __contains__(self, number: object) -> bool:
        return number in self._rows

    def __getitem__(self, number: int) -> ContextReport:
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self._make(self._rows[number])
        return made

    def rank_of(self, number: int) -> float:
        """Return the importance of a report, which is not made for it."""
        rank: float = self.ranks.item(self._rows[number])
        return rank

    def _make(self, row: int) -> ContextReport:
        return ContextReport(
            number=self.numbers.item(row),
            title=self.titles[row],
            content=self.contents[row],
            rank=self.ranks.item(row),
            summary=self.summaries[row],
            tokens=0 if self.tokens is None else self.tokens.item(row),
        )
