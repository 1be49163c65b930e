"""Scores of different kinds → one ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_rows", "fuse", "standard_scores"]


def standard_scores(scores: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return how many standard deviations each score lies above the mean; 0 where all are equal."""
    if not scores.size:
        return np.zeros(0, dtype=np.float32)
    mean = scores.mean()
    standard: NDArray[np.float32] = (scores - mean).astype(np.float32, copy=False)
    spread = float(np.sqrt(np.vecdot(standard, standard) / standard.size))
    # Below this the scores differ by rounding only.
    if spread <= 1e-6 * max(1e-3, abs(float(mean))):
        return np.zeros(scores.shape, dtype=np.float32)
    standard *= np.float32(1 / spread)
    return standard


def fuse(*rankings: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the sum of the standard scores.

    Scores and not ranks: where one side is weak, a text far ahead on the other stays ahead.
    """
    total = standard_scores(rankings[0])
    for scores in rankings[1:]:
        total += standard_scores(scores)
    return total


def best_rows(scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the rows of the ``count`` best scores, best first; equal scores by row.

    The whole is never sorted: only what reaches the ``count``-th best score is.
    """
    if count <= 0 or not scores.size:
        return np.zeros(0, dtype=np.intp)
    if scores.size < _MANY or count > scores.size // 8:
        return _best_of(np.arange(scores.size), scores, count)
    # A score that a sample says is somewhat too low: few are above it, all of the best among them.
    sample = scores[:: scores.size // _SAMPLE]
    wanted = min(len(sample), 8 + 3 * count * len(sample) // scores.size)
    guess = np.partition(sample, len(sample) - wanted)[len(sample) - wanted]
    above = np.flatnonzero(scores > guess)
    best = _best_of(above, scores[above], count)
    if len(best) < count:  # where most scores are equal, the rest of the best is of these
        best = np.concatenate((best, np.flatnonzero(scores == guess)[: count - len(best)]))
    return best if len(best) == count else _best_of(np.arange(scores.size), scores, count)


_MANY = 16_384
_SAMPLE = 4_096


def _best_of(rows: NDArray[np.intp], scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the best of ``rows``, whose scores these are."""
    if count < scores.size:
        least = np.partition(scores, scores.size - count)[scores.size - count]
        kept = scores >= least
        rows, scores = rows[kept], scores[kept]
    return rows[np.lexsort((rows, -scores))][:count]
