"""BM25 over texts that are held in memory (Robertson and Zaragoza, 2009)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.ranking.stems import stem
from holodeck.lib.ranking.terms import question_terms, text_terms

__all__ = ["WordIndex"]

K1 = 1.2  # how soon further occurrences of a term count for little
B = 0.75  # how far a long text is held against itself


class WordIndex:
    """The words of texts: ``scores`` ranks them by a question.

    Args:
        texts: Row ``i`` of every score belongs to ``texts[i]``.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        terms: dict[str, int] = {}
        columns: list[int] = []
        counts: list[int] = []
        sizes: list[int] = []
        for text in texts:
            bag = Counter(map(stem, text_terms(text)))
            columns += [terms.setdefault(term, len(terms)) for term in bag]
            counts += bag.values()
            sizes.append(len(bag))
        self._terms = terms
        self._size = len(sizes)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        frequency = np.asarray(counts, dtype=np.float64)
        column = np.asarray(columns, dtype=np.int64)
        self._starts, self._rows, self._weights = self._postings(rows, column, frequency)

    def _postings(
        self, rows: NDArray[np.int64], column: NDArray[np.int64], frequency: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return where the postings of each term start, their texts and their weights."""
        lengths = np.bincount(rows, weights=frequency, minlength=self._size)
        mean = lengths.mean() if self._size else 1.0
        holders = np.bincount(column, minlength=len(self._terms))
        rarity = np.log1p((self._size - holders + 0.5) / (holders + 0.5))
        saturation = frequency + K1 * (1 - B + B * lengths[rows] / mean)
        weights = rarity[column] * frequency * (K1 + 1) / saturation
        order = np.argsort(column, kind="stable")
        starts = np.concatenate(([0], np.cumsum(holders)))
        return starts, rows[order], weights[order]

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return the score of every text; 0 for one that shares no term with the question."""
        scores = np.zeros(self._size)
        for term in _distinct(question_terms(question)):
            column = self._terms.get(term)
            if column is not None:
                found = slice(self._starts[column], self._starts[column + 1])
                scores[self._rows[found]] += self._weights[found]
        return scores


def _distinct(terms: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(stem, terms)))
