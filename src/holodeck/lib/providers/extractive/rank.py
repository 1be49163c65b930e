"""Which sentences matter and which repeat another: TF-IDF, TextRank and MMR, without chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["REPEATED", "inverse_frequencies", "jaccard", "pick", "text_rank"]

REPEATED = 0.8
"""Share of common terms from which a sentence counts as said already."""

_DAMPING = 0.85
_ROUNDS = 30
_DIGITS = 9  # scores are rounded, so that ties stay ties on every machine


def inverse_frequencies(texts: Sequence[Collection[str]]) -> dict[str, float]:
    """Return for every term ``ln(1 + texts / texts that hold it)``."""
    counts = Counter(term for terms in texts for term in dict.fromkeys(terms))
    return {term: math.log(1 + len(texts) / count) for term, count in counts.items()}


def jaccard(left: Collection[str], right: Collection[str]) -> float:
    """Return the share of terms that two sets have in common."""
    union = len(set(left) | set(right))
    return len(set(left) & set(right)) / union if union else 0.0


def text_rank(sentences: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return how central each sentence (its terms) is to all of them; the sum is 1."""
    count = len(sentences)
    if count == 0:
        return np.zeros(0)
    similarity = _cosines(sentences)
    np.fill_diagonal(similarity, 0)
    totals = similarity.sum(axis=1, keepdims=True)
    # A sentence that is like no other passes its rank on to all.
    steps = np.divide(similarity, totals, out=np.full_like(similarity, 1 / count), where=totals > 0)
    ranks = np.full(count, 1 / count)
    for _ in range(_ROUNDS):
        ranks = (1 - _DAMPING) / count + _DAMPING * (ranks @ steps)
    return np.round(ranks, _DIGITS)


def _cosines(sentences: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    weights = inverse_frequencies(sentences)
    columns = {term: column for column, term in enumerate(weights)}
    matrix = np.zeros((len(sentences), len(columns)))
    for row, terms in enumerate(sentences):
        for term, times in Counter(terms).items():
            matrix[row, columns[term]] = times * weights[term]
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    return matrix @ matrix.T


def pick(
    scores: Sequence[float] | NDArray[np.float64],
    count: int,
    similarity: Callable[[int, int], float],
    *,
    diversity: float = 0.3,
) -> list[int]:
    """Return up to ``count`` positions, best first: high scores that do not repeat each other.

    A sentence loses ``diversity`` times its likeness to the nearest chosen one; from ``REPEATED``
    on it is left out. Of equal ones the earlier wins.
    """
    chosen: list[int] = []
    nearest = dict.fromkeys(range(len(scores)), 0.0)
    while nearest and len(chosen) < count:
        best = max(
            nearest,
            key=lambda at: (
                round(float(scores[at]) - diversity * nearest[at], _DIGITS),
                -at,
            ),
        )
        chosen.append(best)
        del nearest[best]
        for at in list(nearest):
            nearest[at] = max(nearest[at], similarity(at, best))
            if nearest[at] >= REPEATED:
                del nearest[at]
    return chosen
