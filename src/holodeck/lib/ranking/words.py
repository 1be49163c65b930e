"""BM25 over texts, from postings that were made once (Robertson and Zaragoza, 2009)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.arrays import Arrays
from holodeck.lib.indexes.texts import Finder, Texts, text_marks
from holodeck.lib.ranking.stems import stem
from holodeck.lib.ranking.terms import question_terms, text_terms

__all__ = ["AskedTerms", "WordIndex"]

K1 = 1.2  # how soon further occurrences of a term count for little
B = 0.75  # how far a long text is held against itself


@dataclass(frozen=True, kw_only=True)
class AskedTerms:
    """The distinct stems of a question, and what they are found by in any ``WordIndex``."""

    stems: tuple[str, ...]
    marks: NDArray[np.uint64]

    @classmethod
    def of(cls, question: str) -> AskedTerms:
        """Return the terms of a question."""
        stems = tuple(dict.fromkeys(map(stem, question_terms(question))))
        return cls(stems=stems, marks=text_marks(stems))


class WordIndex:
    """The words of texts: ``scores`` ranks them by a question.

    Args:
        arrays: What ``arrays`` of another one returned; row ``i`` of every score belongs to the
            ``i``-th text.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self._size = int(arrays["size"][0])
        self._starts, self._rows = arrays["starts"], arrays["rows"]
        self._weights = arrays["weights"]
        terms = Texts(arrays["terms"], arrays["term_ends"])
        self._terms = Finder(terms, arrays["term_marks"], arrays["term_rows"])

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordIndex:
        """Return the words of texts."""
        terms: defaultdict[str, int] = defaultdict(count().__next__)  # term → its column
        columns: list[int] = []
        counts: list[int] = []
        sizes: list[int] = []
        for text in texts:
            bag = Counter(map(stem, text_terms(text)))
            columns += map(terms.__getitem__, bag)
            counts += bag.values()
            sizes.append(len(bag))
        listed = Texts.of(terms)
        finder = Finder.of(list(terms))
        postings = _postings(
            np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            np.asarray(columns, dtype=np.int64),
            np.asarray(counts, dtype=np.float64),
            texts=len(sizes),
            terms=len(terms),
        )
        return cls(
            {
                **postings,
                "size": np.array([len(sizes)]),
                "terms": listed.content,
                "term_ends": listed.ends,
                "term_marks": finder.marks,
                "term_rows": finder.rows,
            }
        )

    def scores(self, asked: str | AskedTerms) -> NDArray[np.float32]:
        """Return the score of every text; 0 for one that shares no term with the question."""
        terms = AskedTerms.of(asked) if isinstance(asked, str) else asked
        scores = np.zeros(self._size, dtype=np.float32)
        for found in self._terms.find(terms.stems, terms.marks):
            for column in found:
                start, end = self._starts[column : column + 2].tolist()
                if end - start == self._size:  # every text has the term
                    scores += self._weights[start:end]
                else:
                    scores[self._rows[start:end]] += self._weights[start:end]
        return scores


def _postings(
    rows: NDArray[np.int32],
    columns: NDArray[np.int64],
    frequency: NDArray[np.float64],
    *,
    texts: int,
    terms: int,
) -> dict[str, NDArray[np.generic]]:
    """Return where the postings of each term start, their texts and their weights."""
    lengths = np.bincount(rows, weights=frequency, minlength=texts)
    mean = lengths.mean() if texts else 1.0
    holders = np.bincount(columns, minlength=terms)
    rarity = np.log1p((texts - holders + 0.5) / (holders + 0.5))
    saturation = frequency + K1 * (1 - B + B * lengths[rows] / max(mean, 1.0))
    weights = rarity[columns] * frequency * (K1 + 1) / saturation
    order = np.argsort(columns, kind="stable")
    return {
        "starts": np.concatenate(([0], np.cumsum(holders))),
        "rows": rows[order],
        "weights": weights[order].astype(np.float32),
    }
