"""The engine's values where the user sets nothing; the library's own differ in three of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["LOCAL", "MAP", "REDUCE", "REPORT_WORDS", "LocalValues", "ReplyValues"]


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
MAP: Final = ReplyValues(words=1000)
REDUCE: Final = ReplyValues(words=2000)
REPORT_WORDS: Final = 2000
