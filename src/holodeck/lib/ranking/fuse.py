"""Scores of different kinds → one ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_rows", "fuse", "standard_scores"]


def standard_scores(scores: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return how many standard deviations each score lies above the mean; 0 where all are equal."""
    mean, spread = _mean_and_spread(scores)
    if not spread:
        return np.zeros(scores.shape, dtype=np.float32)
    standard: NDArray[np.float32] = ((scores - mean) * (1 / spread)).astype(np.float32, copy=False)
    return standard


def fuse(*rankings: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the sum of the standard scores.

    Scores and not ranks: where one side is weak, a text far ahead on the other stays ahead.
    """
    total = np.zeros(rankings[0].shape, dtype=np.float32)
    shift = 0.0
    for scores in rankings:
        mean, spread = _mean_and_spread(scores)
        if spread:
            total += scores * np.float32(1 / spread)
            shift += mean / spread
    total -= np.float32(shift)
    return total


def _mean_and_spread(scores: NDArray[np.floating]) -> tuple[float, float]:
    """Return mean and standard deviation; a deviation of 0 where scores differ by rounding only."""
    if not scores.size:
        return 0.0, 0.0
    mean = float(scores.mean(dtype=np.float64))
    spread = float(scores.std(dtype=np.float64))
    least = 1e-6 * max(1e-3, float(np.abs(scores).max()))
    return mean, spread if spread > least else 0.0


def best_rows(scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the rows of the ``count`` best scores, best first; equal scores by row.

    The whole is never sorted: only what reaches the ``count``-th best score is.
    """
    if count <= 0 or not scores.size:
        return np.zeros(0, dtype=np.intp)
    rows = np.arange(scores.size)
    if count < scores.size:
        least = np.partition(scores, scores.size - count)[scores.size - count]
        rows = np.flatnonzero(scores >= least)
    return rows[np.lexsort((rows, -scores[rows]))][:count]
