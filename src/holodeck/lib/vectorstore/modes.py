"""The modes of a search, and what they need; how they rank is in ``search``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SEARCH_MODES", "SearchMode"]


@dataclass(frozen=True, kw_only=True)
class SearchMode:
    """One way to search.

    Attributes:
        needs_vector: Whether the question is embedded for it.
    """

    needs_vector: bool = True


SEARCH_MODES: Mapping[str, SearchMode] = {
    "hybrid": SearchMode(),
    "vector": SearchMode(),
    "keyword": SearchMode(needs_vector=False),
}
"""Mode → what it needs; the first is the default."""
