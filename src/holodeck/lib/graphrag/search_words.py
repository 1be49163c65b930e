"""What the words of a question say about the records of an index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.graphrag.names import name_key
from holodeck.lib.ranking.words import WordIndex

__all__ = ["SearchWords"]


class SearchWords:
    """The words of titles, descriptions and texts.

    Args:
        titles: Titles of the entities.
        entities: Their descriptions.
        edges: Descriptions of the relationships.
        units: Texts of the text units.
    """

    def __init__(
        self,
        *,
        titles: Sequence[str],
        entities: Sequence[str],
        edges: Sequence[str],
        units: Sequence[str],
    ) -> None:
        self._titles = titles
        self._entities = entities
        self.titles = WordIndex(titles)
        self.entities = WordIndex(map("{} {}".format, titles, entities))
        self.edges = WordIndex(edges)
        self.units = WordIndex(units)

    def named(self, question: str) -> NDArray[np.float64]:
        """Return, for each entity, the words of its name if the question holds all of it, else 0.

        A name that is part of a longer one which the question holds there does not count.
        """
        words = _words(question)
        counts = np.zeros(len(self._titles))
        start = 0
        while start < len(words):
            longest = min(self._longest, len(words) - start)
            for size in range(longest, 0, -1):
                rows = self._names.get(" ".join(words[start : start + size]), ())
                if rows:
                    counts[list(rows)] = size
                    start += size - 1
                    break
            start += 1
        return counts

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        names: dict[str, list[int]] = {}
        for row, title in enumerate(self._titles):
            # One letter or figure is no name to go by.
            if len(name_key(title)) > 1:
                names.setdefault(" ".join(_words(title)), []).append(row)
        names.pop("", None)
        return names

    @cached_property
    def _longest(self) -> int:
        return max((name.count(" ") + 1 for name in self._names), default=0)


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.casefold()).split()
