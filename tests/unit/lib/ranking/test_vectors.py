"""Rough looks over vectors, then exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from holodeck.lib.ranking.fuse import best_rows
from holodeck.lib.ranking.projection import LEAST_RECALL
from holodeck.lib.ranking.vectors import Vectors

pytestmark = pytest.mark.unit

COUNT, WIDTH = 8_000, 192
SIZE = 2 * COUNT * WIDTH  # more numbers than there are: no projection is tried


def unit_vectors(scale: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return vectors of length 1, spread along each axis as far as ``scale`` says."""
    matrix = np.random.default_rng(1).standard_normal((COUNT, WIDTH)) * scale
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / lengths, dtype=np.float32)


def test_a_rough_look_finds_the_nearest() -> None:
    """Of vectors that lie as embeddings do, new questions find theirs, by their exact scores."""
    matrix = unit_vectors(1 / np.sqrt(np.arange(WIDTH) + 3))
    held_out = matrix[::80]
    kept = np.delete(matrix, np.s_[::80], axis=0)
    exact, rough = (Vectors.of(np.arange(len(kept)), kept, least_numbers=n) for n in (SIZE, 0))
    nothing = np.zeros(len(kept), dtype=np.float32)
    shares = []
    for query in held_out:
        nearest = best_rows(exact.likeness(query, nothing), 10)
        found = rough.likeness(query, nothing)
        shares.append(np.isin(nearest, best_rows(found, 10)).mean())

    assert exact.projection is None
    assert rough.projection is not None
    assert np.mean(shares) >= LEAST_RECALL


def test_rough_looks_weigh_vectors_and_words_as_exact_ones_do() -> None:
    """Words are weighed beside vectors by one measure, however many vectors there are."""
    matrix = unit_vectors(1 / np.sqrt(np.arange(WIDTH) + 3)) + 0.1
    exact, rough = (Vectors.of(np.arange(COUNT), matrix, least_numbers=n) for n in (SIZE, 0))
    query = matrix[3] + matrix[4]
    said = np.zeros(COUNT, dtype=np.float32)
    said[::1_000] = 20  # what no vector comes near to
    wanted, found = exact.likeness(query, said), rough.likeness(query, said)
    measured = [*range(0, COUNT, 1_000), 3, 4]

    assert rough.projection is not None
    assert found[measured] == pytest.approx(wanted[measured], rel=0.05)


def test_vectors_that_no_projection_serves_are_searched_exactly() -> None:
    """What lies evenly in all directions has no leading axes, and is not searched roughly."""
    matrix = unit_vectors(np.ones(WIDTH))

    assert Vectors.of(np.arange(COUNT), matrix, least_numbers=0).projection is None


@pytest.mark.parametrize("least_numbers", [SIZE, 0])
def test_rows_without_a_vector_are_worth_nothing(least_numbers: int) -> None:
    """Vectors may stand in any order and for some rows only, looked at in either way."""
    matrix = unit_vectors(1 / np.sqrt(np.arange(WIDTH) + 3))
    rows = np.arange(COUNT)[::-1] * 2 + 1
    vectors = Vectors.of(rows, matrix, least_numbers=least_numbers)
    said = np.zeros(2 * COUNT + 5, dtype=np.float32)
    said[[2, 2 * COUNT + 4]] = 1
    found = vectors.likeness(matrix[9], said)

    assert (vectors.projection is None) == bool(least_numbers)
    assert int(found.argmax()) == rows[9]
    assert found[2] == found[2 * COUNT + 4] == found[0] + 1
    assert vectors.similarities(matrix[9], len(said))[[2, rows[9]]] == pytest.approx([0, 1])


def test_what_is_derived_of_vectors_is_read_back() -> None:
    """A table made of the arrays of another one says the same, with and without a projection."""
    matrix = unit_vectors(1 / np.sqrt(np.arange(WIDTH) + 3))
    nothing = np.zeros(COUNT, dtype=np.float32)
    for least_numbers in (SIZE, 0):
        made = Vectors.of(np.arange(COUNT), matrix, least_numbers=least_numbers)
        read = Vectors.from_arrays(made.arrays)

        assert (
            read.likeness(matrix[1], nothing).tolist() == made.likeness(matrix[1], nothing).tolist()
        )


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
