"""Rough looks over vectors, then exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from holodeck.lib.ranking.vectors import LEAST_RECALL, Vectors, recall

pytestmark = pytest.mark.unit

COUNT, WIDTH = 8_000, 192


def unit_vectors(scale: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return vectors of length 1, spread along each axis as far as ``scale`` says."""
    matrix = np.random.default_rng(1).standard_normal((COUNT, WIDTH)) * scale
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / lengths, dtype=np.float32)


def test_a_rough_look_finds_the_nearest() -> None:
    """Of vectors that lie as embeddings do, new questions find theirs; measured ones are exact."""
    matrix = unit_vectors(1 / np.sqrt(np.arange(WIDTH) + 3))
    held_out = matrix[::80]
    kept = np.delete(matrix, np.s_[::80], axis=0)
    vectors = Vectors.of(np.arange(len(kept)), kept, least_numbers=0)

    assert not vectors.is_exact
    assert recall(kept, vectors.axes, vectors.rough, held_out) >= LEAST_RECALL
    near = vectors.similarities(held_out[0], len(kept))
    rows = np.array([5, 77, 9])
    vectors.measure(near, rows, held_out[0])
    assert near[rows] == pytest.approx(kept[rows] @ held_out[0])


def test_vectors_that_no_projection_serves_are_searched_exactly() -> None:
    """What lies evenly in all directions has no leading axes, and is not searched roughly."""
    matrix = unit_vectors(np.ones(WIDTH))
    vectors = Vectors.of(np.arange(COUNT), matrix, least_numbers=0)

    assert vectors.is_exact
    assert vectors.similarities(matrix[3], COUNT) == pytest.approx(matrix @ matrix[3], abs=1e-6)


def test_rows_without_a_vector_are_worth_nothing() -> None:
    """Vectors may stand in any order and for some rows only."""
    vectors = Vectors.of(np.array([3, 1]), np.array([[1, 0], [0, 2]], dtype=np.float32))
    query = np.array([1, 1], dtype=np.float32)
    near = vectors.similarities(query, 5)
    measured = near * 0
    vectors.measure(measured, np.array([0, 1, 4]), query)

    assert near.tolist() == [0, 2, 0, 1, 0]
    assert measured.tolist() == [0, 2, 0, 0, 0]


def test_no_vectors_give_nothing() -> None:
    """An empty table is searched like any other."""
    vectors = Vectors.of(np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.float32))
    query = np.zeros(4, dtype=np.float32)

    assert vectors.similarities(query, 3).tolist() == [0, 0, 0]
    assert vectors.nearest(query, 3).tolist() == []


@pytest.mark.parametrize("count", [1, 3, 50])
def test_the_nearest_are_those_of_a_full_sort(count: int) -> None:
    """By distance, equal distances by row."""
    matrix = np.array([[1, 0], [0, 1], [1, 0], [3, 0]], dtype=np.float32)
    query = np.array([1, 0], dtype=np.float32)

    nearest = Vectors.of(np.arange(4), matrix).nearest(query, count)
    assert nearest.tolist() == [0, 2, 1, 3][:count]
