"""Vectors of an index: how near each is to a question, exactly, or roughly and then exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.arrays import Arrays
from holodeck.lib.ranking.fuse import best_rows, standard_scores
from holodeck.lib.ranking.projection import MEASURED, Look, Projection, find_projection

__all__ = ["Vectors", "has_projection"]

LEAST_NUMBERS = 8_000_000
"""Numbers of a matrix from which on it is looked at roughly first: fewer are read in milliseconds,
and finding the axes takes over a second of processor time of every build and update."""

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


def has_projection(arrays: Arrays) -> bool:
    """Tell whether a table of these arrays is looked at roughly: its matrix is read in parts."""
    return "axes" in arrays


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """A vector table.

    Attributes:
        rows: ``matrix[i]`` belongs to row ``rows[i]`` of the table that it describes; ascending.
        matrix: The vectors.
        projection: What they are looked at through first; ``None``: every look is exact.
    """

    rows: Rows
    matrix: Floats
    projection: Projection | None = None

    @classmethod
    def of(cls, rows: Rows, matrix: Floats, *, least_numbers: int = LEAST_NUMBERS) -> Vectors:
        """Return a vector table that is made ready for questions.

        Args:
            rows: What each vector belongs to, in any order.
            matrix: The vectors.
            least_numbers: Numbers of the matrix from which on a projection is tried.
        """
        order = np.argsort(rows, kind="stable")
        if (order != np.arange(len(order))).any():
            rows, matrix = rows[order], matrix[order]
        is_great = matrix.size >= max(1, least_numbers)
        return cls(
            rows=rows, matrix=matrix, projection=find_projection(matrix) if is_great else None
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Vectors:
        """Return what ``arrays`` of another one said."""
        projection = Projection.from_arrays(arrays) if has_projection(arrays) else None
        return cls(rows=arrays["rows"], matrix=arrays["matrix"], projection=projection)

    @property
    def arrays(self) -> Arrays:
        """The table as arrays."""
        projected = {} if self.projection is None else self.projection.arrays
        return {"rows": self.rows, "matrix": self.matrix, **projected}

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.matrix.shape[1])

    def similarities(self, query: Floats, count: int) -> Floats:
        """Return the dot product with each of ``count`` rows; 0 for a row without a vector."""
        # Not "@": its threads cost more than they save, and wait for one another on a busy machine.
        found: Floats = np.vecdot(self.matrix, query)
        if len(self.rows) == count:
            return found
        spread = np.zeros(count, dtype=np.float32)
        spread[self.rows] = found
        return spread

    def likeness(self, query: Floats, beside: Floats) -> Floats:
        """Return ``beside`` and the standard scores of all rows' similarities, added.

        Where there is a projection, the similarities are rough, but exact for the rows that look
        best then.
        """
        if self.projection is None:
            return beside + standard_scores(self.similarities(query, beside.size))
        look = self.projection.look(query)
        total = self._added(look, beside)
        places = self._places_of(np.sort(best_rows(total, MEASURED)))
        exact = np.vecdot(self.matrix[places], query)
        rows = self.rows[places]
        total[rows] = beside[rows] + (exact - look.mean) / (look.spread or 1.0)
        return total

    def _added(self, look: Look, beside: Floats) -> Floats:
        scale = 1 / (look.spread or 1.0)
        if len(self.rows) == len(beside):
            total = look.scores * np.float32(scale)
            total += beside
        else:
            total = beside.copy()
            total[self.rows] += look.scores * np.float32(scale)
        total -= np.float32(look.mean * scale)
        return total

    def _places_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places of those of the rows that have a vector."""
        places = np.searchsorted(self.rows, rows)
        places = places[places < len(self.rows)]
        return places[np.isin(self.rows[places], rows)]

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
