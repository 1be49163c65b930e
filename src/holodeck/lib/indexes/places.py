"""Where texts stand, in arrays: a place is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.documents import Place
from holodeck.lib.indexes.checked_arrays import Arrays, CheckedArrays
from holodeck.lib.indexes.texts import text_arrays, text_at

__all__ = ["Places", "place_arrays"]

Found = dict[str, NDArray[Any]]  # Any: as in Arrays

_NONE = -1
_COLUMNS = ("path_rows", "pages", "records")


def place_arrays(places: Iterable[Sequence[Place]]) -> Found:
    """Return the places of each text as arrays; a path is held once."""
    paths: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    starts = [0]
    for each in places:
        for place in each:
            page = _NONE if place.page is None else place.page
            record = _NONE if place.row is None else place.row
            rows.append((paths.setdefault(place.path, len(paths)), page, record))
        starts.append(len(rows))
    columns = np.array(rows, dtype=np.int64).reshape(-1, len(_COLUMNS)).T
    return {
        **text_arrays("paths", paths),
        **{name: column.copy() for name, column in zip(_COLUMNS, columns, strict=True)},
        "starts": np.array(starts, dtype=np.int64),
    }


class Places(Sequence[tuple[Place, ...]]):
    """Where each text stands.

    Args:
        arrays: What ``place_arrays`` returned.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = CheckedArrays.of(arrays)

    def __len__(self) -> int:
        return len(self.arrays.unread("starts")) - 1

    @overload
    def __getitem__(self, row: int) -> tuple[Place, ...]: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[tuple[Place, ...]]: ...
    def __getitem__(self, row: int | slice) -> tuple[Place, ...] | Sequence[tuple[Place, ...]]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self.read(*self.span(row))

    def span(self, row: int) -> tuple[int, int]:
        """Return the numbers of the first place of a text, and of the one past the last."""
        start, stop = self.arrays.part("starts", row, row + 2).tolist()
        return start, stop

    def read(self, start: int, stop: int) -> tuple[Place, ...]:
        """Return places by their numbers, counted over all texts."""
        columns = (self.arrays.part(name, start, stop).tolist() for name in _COLUMNS)
        return tuple(
            Place(
                path=text_at(self.arrays, "paths", path),
                page=None if page < 0 else page,
                row=None if record < 0 else record,
            )
            for path, page, record in zip(*columns, strict=True)
        )
