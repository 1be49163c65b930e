"""Which rows of one table belong to each row of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Links", "Rows"]

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Links:
    """Which rows of one table belong to each row of another, in the order of the table.

    Attributes:
        starts: ``rows[starts[i]:starts[i + 1]]`` belong to row ``i``.
    """

    starts: Rows
    rows: Rows

    def of(self, row: int) -> Rows:
        """Return the rows that belong to ``row``."""
        return self.rows[self.starts[row] : self.starts[row + 1]]

    def count_within(self, row: int, wanted: NDArray[np.bool_]) -> int:
        """Return how many of the rows that belong to ``row`` are wanted."""
        return int(np.count_nonzero(wanted[self.of(row)]))

    @property
    def counts(self) -> Rows:
        """How many rows belong to each row."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Rows:
        """For every entry of ``rows``, the row that it belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), self.counts)

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[int]]) -> Links:
        """Return the links that lists of rows, one for each row, stand for."""
        sizes = np.fromiter((len(each) for each in lists), dtype=np.int64, count=len(lists))
        flat = [row for each in lists for row in each]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        return cls(starts=starts.astype(np.int64), rows=np.asarray(flat, dtype=np.int64))

    @classmethod
    def of_owners(cls, owners: Rows, rows: Rows, count: int) -> Links:
        """Return the links of ``count`` rows from pairs; pairs of one owner keep their order."""
        order = np.argsort(owners, kind="stable")
        sizes = np.bincount(owners, minlength=count)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        return cls(starts=starts.astype(np.int64), rows=rows[order])
