"""The engine's values where the user sets nothing; the library's own differ in three of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = [
    "CONCURRENCY",
    "GRAPH",
    "LEAST_DATA",
    "LOCAL",
    "LOCAL_VALUES",
    "MAP",
    "REDUCE",
    "REPORT_WORDS",
    "TRIES",
    "LocalValues",
    "ReplyValues",
]


@dataclass(frozen=True, kw_only=True)
class LocalValues:
    """How the context of a local search is made up.

    Attributes:
        context_tokens: Tokens of the whole context.
        text_unit_share: Share of them for text units.
        community_share: Share for community reports; entities and relationships get the rest.
        entities: Entities that a question is matched to (twice as many are looked at).
        relationships: Relationships to other entities, for each matched entity.
    """

    context_tokens: int = 12_000
    text_unit_share: float = 0.5
    community_share: float = 0.1
    entities: int = 10
    relationships: int = 10


@dataclass(frozen=True, kw_only=True)
class ReplyValues:
    """How long a reply of global search may be, and from how much it is made."""

    words: int
    data_tokens: int = 12_000


LOCAL: Final = LocalValues()
GRAPH: Final = LocalValues(text_unit_share=0.85, community_share=0.05)
"""Of ``ranking: graph``: the shares of reports, entities and relationships are the most that they
may take; what they leave is filled with text units."""
LOCAL_VALUES: Final[Mapping[str, LocalValues]] = {"graph": GRAPH, "library": LOCAL}
"""Ranking → its values."""
MAP: Final = ReplyValues(words=1000)
REDUCE: Final = ReplyValues(words=2000)
REPORT_WORDS: Final = 2000
CONCURRENCY: Final = 32
"""Calls of one search at once, at most; the model has a limit of its own."""
TRIES: Final = 2
"""Times that a piece of a search is asked for before it counts as lost."""
LEAST_DATA: Final = 250
"""Tokens of data below which no answer is tried."""
