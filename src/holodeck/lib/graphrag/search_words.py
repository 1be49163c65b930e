"""What the words of a question say about the records of an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.graphrag.names import name_key
from holodeck.lib.indexes.arrays import Arrays
from holodeck.lib.indexes.texts import Finder, Texts
from holodeck.lib.ranking.terms import text_words
from holodeck.lib.ranking.words import WordIndex

__all__ = ["SearchWords"]

LONGEST_NAME = 12
"""Words of a name that are looked for in a question (characters of a script without blanks); what
is longer is a sentence."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """Names that questions may hold.

    Attributes:
        names: What of each title is compared.
        rows: The entity of each.
        finder: Finds a name among them.
        longest: Words of the longest.
        entities: How many entities there are.
    """

    names: Texts
    rows: NDArray[np.int64]
    finder: Finder
    longest: int
    entities: int

    @classmethod
    def of(cls, titles: Sequence[str]) -> Names:
        """Return what titles are looked for by."""
        kept = {
            # One letter or figure is no name to go by.
            row: " ".join(text_words(title))
            for row, title in enumerate(titles)
            if len(name_key(title)) > 1
        }
        kept = {row: name for row, name in kept.items() if name}
        names = Texts.of(kept.values())
        words = (name.count(" ") + 1 for name in kept.values())
        return cls(
            names=names,
            rows=np.fromiter(kept, dtype=np.int64, count=len(kept)),
            finder=Finder.of(names),
            longest=min(LONGEST_NAME, max(words, default=0)),
            entities=len(titles),
        )

    @property
    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The names as arrays."""
        return {
            "names": self.names.content,
            "name_ends": self.names.ends,
            "name_rows": self.rows,
            "name_marks": self.finder.marks,
            "name_order": self.finder.rows,
            "longest": np.array([self.longest, self.entities]),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Names:
        """Return what ``arrays`` of another one said."""
        names = Texts(arrays["names"], arrays["name_ends"])
        longest, entities = arrays["longest"].tolist()
        return cls(
            names=names,
            rows=arrays["name_rows"],
            finder=Finder(names, arrays["name_marks"], arrays["name_order"]),
            longest=longest,
            entities=entities,
        )

    def held_by(self, question: str) -> dict[int, int]:
        """Return entity → words of its name, for each whose whole name the question holds.

        A name that is part of a longer one which the question holds there does not count.
        """
        words = text_words(question)
        spans = [
            (start, size)
            for start in range(len(words))
            for size in range(min(self.longest, len(words) - start), 0, -1)
        ]
        texts = [" ".join(words[start : start + size]) for start, size in spans]
        held: dict[int, int] = {}
        free = 0  # the first word that no name was found at
        for (start, size), found in zip(spans, self.finder.find(texts), strict=True):
            if found and start >= free:
                held |= dict.fromkeys(self.rows[found].tolist(), size)
                free = start + size
        return held


class SearchWords:
    """The words of titles, descriptions and texts.

    Args:
        names: Of the entities.
        indexes: ``titles``, ``entities`` (titles and descriptions), ``edges`` and ``units``.
    """

    def __init__(self, names: Names, indexes: Mapping[str, WordIndex]) -> None:
        self.names = names
        self.titles = indexes["titles"]
        self.entities = indexes["entities"]
        self.edges = indexes["edges"]
        self.units = indexes["units"]

    @classmethod
    def of(
        cls,
        *,
        titles: Sequence[str],
        entities: Iterable[str],
        edges: Iterable[str],
        units: Iterable[str],
    ) -> SearchWords:
        """Return the words of records.

        Args:
            titles: Titles of the entities.
            entities: Their descriptions.
            edges: Descriptions of the relationships.
            units: Texts of the text units.
        """
        texts = {
            "titles": titles,
            "entities": map("{} {}".format, titles, entities),
            "edges": edges,
            "units": units,
        }
        return cls(Names.of(titles), {name: WordIndex.of(each) for name, each in texts.items()})
