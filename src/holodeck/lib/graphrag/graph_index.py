"""An index opened for search: the tables of one generation, its words, its links, its vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from holodeck.lib.contracts import ContextClaim
from holodeck.lib.graphrag.links import Links, Rows
from holodeck.lib.graphrag.opened_tables import (
    Communities,
    Edges,
    Entities,
    Reports,
    TextUnits,
)
from holodeck.lib.graphrag.search_words import SearchWords
from holodeck.lib.graphrag.spread import Spread
from holodeck.lib.graphrag.write_context import TokenCounts
from holodeck.lib.ranking.vectors import Vectors

__all__ = ["PROMPTS_FILE", "GraphIndex"]

PROMPTS_FILE = "prompts.json"
"""The search prompts, kept beside the tables so that a search needs no library."""

Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class GraphIndex:
    """One generation of an index.

    Attributes:
        claims: Row of an entity → claims about it, in table order.
        claim_units: Number of a claim → row of the text unit that makes it.
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
    reports: Reports
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
        """Return, for every entity, the number of its finest community with a report.

        Of at most ``level``; -1 stands for none.
        """
        return self._of_level(
            "finest",
            level,
            lambda n: self.communities.finest(n, len(self.entities), self.reports.numbers),
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
