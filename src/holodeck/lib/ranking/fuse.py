"""Scores of different kinds → one ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_rows", "fuse", "standard_scores"]


def standard_scores(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return how many standard deviations each score lies above the mean; 0 where all are equal."""
    values = scores.astype(np.float64)
    spread = values.std() if values.size else 0.0
    # Below this the scores differ by rounding only.
    if spread <= 1e-9 * max(1.0, float(np.abs(values).max(initial=0.0))):
        return np.zeros_like(values)
    standard: NDArray[np.float64] = (values - values.mean()) / spread
    return standard


def fuse(*rankings: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the sum of the standard scores.

    Scores and not ranks: where one side is weak, a text far ahead on the other stays ahead.
    """
    total = np.zeros(rankings[0].shape)
    for scores in rankings:
        total += standard_scores(scores)
    return total


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
