"""Vectors of an index: how near each is to a question, exactly, or roughly and then exactly.

A rough look goes over a projection to fewer numbers, which is a fraction of the memory; what looks
best is then measured whole. Whether that finds what it should is tried out on the vectors
themselves when the projection is made; where it does not, there is none, and all is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.arrays import Arrays

__all__ = ["MEASURED", "Vectors", "recall"]

MEASURED = 200
"""Rows that look best roughly and are then measured whole."""
LEAST_NUMBERS = 10_000_000
"""Numbers of a matrix from which on a rough look is worth it: fewer are read in 5 ms, and finding
the axes takes seconds of every build and update."""
WIDTHS = (96, 128, 192, 256)
"""Widths of a projection that are tried, the narrowest first."""
LEAST_RECALL = 0.995
"""Share of the nearest ten that a projection must lead to."""
NEAREST = 10
TRIED = 64
"""Questions that a projection is tried with."""
SAMPLE = 8_192
"""Vectors that a projection is made from."""
AT_ONCE = 65_536
"""Vectors whose scores for all questions are held at once."""

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """A vector table.

    Attributes:
        rows: ``matrix[i]`` belongs to row ``rows[i]`` of the table that it describes; ascending.
        matrix: The vectors.
        axes: What a vector is projected by; without rows: every look is exact.
        rough: The projected vectors.
    """

    rows: Rows
    matrix: Floats
    axes: Floats
    rough: Floats

    @classmethod
    def of(cls, rows: Rows, matrix: Floats, *, least_numbers: int = LEAST_NUMBERS) -> Vectors:
        """Return a vector table that is made ready for questions.

        Args:
            rows: What each vector belongs to, in any order.
            matrix: The vectors.
            least_numbers: Numbers of the matrix from which on rough looks are tried.
        """
        order = np.argsort(rows, kind="stable")
        if (order != np.arange(len(order))).any():
            rows, matrix = rows[order], matrix[order]
        width = matrix.shape[1]
        axes = np.zeros((0, width), dtype=np.float32)
        if matrix.size >= least_numbers:
            axes = _find_axes(matrix)
        return cls(rows=rows, matrix=matrix, axes=axes, rough=matrix @ axes.T)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Vectors:
        """Return what ``arrays`` of another one said."""
        return cls(**{name: arrays[name] for name in ("rows", "matrix", "axes", "rough")})

    @property
    def arrays(self) -> Arrays:
        """The table as arrays."""
        return {
            "rows": self.rows,
            "matrix": self.matrix,
            "axes": self.axes,
            "rough": self.rough,
        }

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.matrix.shape[1])

    @property
    def is_exact(self) -> bool:
        """Whether ``similarities`` are."""
        return not len(self.axes)

    def similarities(self, query: Floats, count: int) -> Floats:
        """Return the dot product with each of ``count`` rows; 0 for a row without a vector.

        Unless ``is_exact`` they are rough: ``measure`` the rows that matter.
        """
        # Not "@": its threads cost more than they save, and wait for one another on a busy machine.
        found: Floats = (
            np.vecdot(self.matrix, query)
            if self.is_exact
            else np.vecdot(self.rough, np.vecdot(self.axes, query))
        )
        if len(self.rows) == count:
            return found
        spread = np.zeros(count, dtype=np.float32)
        spread[self.rows] = found
        return spread

    def measure(self, similarities: Floats, rows: NDArray[np.intp], query: Floats) -> None:
        """Put the exact dot products of rows in the place of rough ones."""
        places = np.searchsorted(self.rows, rows)
        places[places == len(self.rows)] = 0
        known = self.rows[places] == rows if len(self.rows) else np.zeros(len(rows), dtype=np.bool_)
        similarities[rows[known]] = np.vecdot(self.matrix[places[known]], query)

    def nearest(self, query: Floats, count: int) -> Rows:
        """Return the rows of the ``count`` vectors nearest to ``query``, exactly; ties by row.

        Near is the Euclidean distance, as in the store of the library.
        """
        distances = self._squares - 2 * np.vecdot(self.matrix, query)
        places = np.arange(distances.size)
        if count < distances.size:
            greatest = np.partition(distances, count)[count]
            places = np.flatnonzero(distances <= greatest)
        order = np.lexsort((self.rows[places], distances[places]))
        nearest: Rows = self.rows[places[order]][:count]
        return nearest

    @cached_property
    def _squares(self) -> Floats:
        squares: Floats = np.einsum("ij,ij->i", self.matrix, self.matrix)
        return squares


def recall(matrix: Floats, axes: Floats, rough: Floats, queries: Floats) -> float:
    """Return the share of the nearest ten that are among the rows which are measured whole."""
    return _share(_best(matrix, queries, NEAREST), _best(rough, queries @ axes.T, MEASURED))


def _best(matrix: Floats, queries: Floats, count: int) -> Rows:
    """Return the ``count`` best rows for each query, in any order; few scores are held at once."""
    count = min(count, len(matrix))
    rows = np.zeros((len(queries), 0), dtype=np.int64)
    scores = np.zeros((len(queries), 0), dtype=np.float32)
    for start in range(0, len(matrix), AT_ONCE):
        found = queries @ matrix[start : start + AT_ONCE].T
        here = np.broadcast_to(np.arange(start, start + found.shape[1]), found.shape)
        scores = np.concatenate((scores, found), axis=1)
        rows = np.concatenate((rows, here), axis=1)
        best = np.argpartition(scores, -min(count, scores.shape[1]), axis=1)[:, -count:]
        scores = np.take_along_axis(scores, best, axis=1)
        rows = np.take_along_axis(rows, best, axis=1)
    return rows


def _share(true: Rows, looked: Rows) -> float:
    pairs = zip(true, looked, strict=True)
    return float(np.mean([np.isin(one, other).mean() for one, other in pairs]))


def _find_axes(matrix: Floats) -> Floats:
    """Return the fewest axes that lead to the nearest; none where no look but an exact one does."""
    count, width = matrix.shape
    sample = matrix[:: max(1, count // SAMPLE)]
    queries = np.stack(list(_questions_like(matrix)))
    nearest = _best(matrix, queries, NEAREST)
    for axes in _leading_axes(sample, [each for each in WIDTHS if 2 * each <= width]):
        looked = _best(matrix @ axes.T, queries @ axes.T, MEASURED)
        if _share(nearest, looked) >= LEAST_RECALL:
            return axes
    return np.zeros((0, width), dtype=np.float32)


def _questions_like(matrix: Floats) -> Iterator[Floats]:
    """Yield vectors such as questions have: of one thing, or between two."""
    chance = np.random.default_rng(0)
    for number in range(TRIED):
        one, other = matrix[chance.integers(0, len(matrix), 2)]
        yield one + other if number % 2 else one


def _leading_axes(sample: Floats, widths: list[int]) -> Iterator[Floats]:
    """Yield, for each width, the axes along which most of the sample lies."""
    if not widths:
        return
    chance = np.random.default_rng(0)
    axes = chance.standard_normal((sample.shape[1], widths[-1])).astype(np.float32)
    for _ in range(4):  # orthogonal iteration: enough, since any axes near the leading ones serve
        axes = np.linalg.qr(sample.T @ (sample @ axes))[0].astype(np.float32)
    _, turn = np.linalg.eigh((sample @ axes).T @ (sample @ axes))
    leading = np.ascontiguousarray((axes @ turn[:, ::-1]).T.astype(np.float32))
    for width in widths:
        yield np.ascontiguousarray(leading[:width])
