"""Arrays of which every block is checked before it is read for the first time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Arrays", "CheckedArrays", "DamagedArraysError"]

Arrays = Mapping[str, NDArray[Any]]  # Any: numbers of whatever kind an array holds

BLOCK = 1 << 14
"""Bytes with one checksum: a row is read for the price of this many."""


_TO_CHECK = b"\x01"


class DamagedArraysError(Exception):
    """A block is not as it was written: derive the arrays again."""


class CheckedArrays(Arrays):
    """Named arrays; whoever takes a whole one has it checked, and rows are checked by themselves.

    Args:
        arrays: The arrays; each in one piece of memory.
        checksums: CRC-32 of each block of each array; none: they were not read from a file.
        path: The file, for messages.
    """

    def __init__(
        self,
        arrays: Arrays,
        checksums: Mapping[str, NDArray[np.uint32]] | None = None,
        path: Path | None = None,
    ) -> None:
        self._arrays = arrays
        self._expected = checksums or {}
        # Two threads may check a block twice, which changes nothing.
        # One byte for each block that is still to be checked: bytes are looked through fastest.
        self._unread = {
            name: bytearray(_TO_CHECK * len(each)) for name, each in self._expected.items()
        }
        self._path = path

    @classmethod
    def of(cls, arrays: Arrays) -> CheckedArrays:
        """Return arrays that may be in memory, where there is nothing to check."""
        return arrays if isinstance(arrays, CheckedArrays) else cls(arrays)

    def group(self, name: str) -> CheckedArrays:
        """Return the arrays ``name.…`` by what follows; they are checked once, here or there."""
        start = f"{name}."
        names = [each for each in self._arrays if each.startswith(start)]
        group = CheckedArrays(
            {each.removeprefix(start): self._arrays[each] for each in names}, None, self._path
        )
        checked = [each for each in names if each in self._expected]
        group._expected = {each.removeprefix(start): self._expected[each] for each in checked}
        group._unread = {each.removeprefix(start): self._unread[each] for each in checked}
        return group

    def __len__(self) -> int:
        return len(self._arrays)

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return an array, all of it checked.

        Raises:
            DamagedArraysError: It is not as it was written.
        """
        return self.part(name, 0, len(self._arrays[name]))

    def unread(self, name: str) -> NDArray[Any]:
        """Return an array as it lies there: for its shape, or with rows that ``check`` was told."""
        return self._arrays[name]

    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Return a run of rows, checked.

        Raises:
            DamagedArraysError: They are not as they were written.
        """
        array = self._arrays[name]
        unread = self._unread.get(name)
        if unread is not None and stop > start:
            size = array.strides[0]
            end = (stop * size - 1) // BLOCK + 1
            block = unread.find(_TO_CHECK, start * size // BLOCK, end)
            while block >= 0:
                self._check(name, block)
                block = unread.find(_TO_CHECK, block + 1, end)
        return array[start:stop]

    def rows(self, name: str, rows: NDArray[np.integer]) -> NDArray[Any]:
        """Return single rows, checked.

        Raises:
            DamagedArraysError: They are not as they were written.
        """
        self.check(name, rows)
        found: NDArray[Any] = self._arrays[name][rows]
        return found

    def check(self, name: str, rows: NDArray[np.integer]) -> None:
        """Check single rows.

        Raises:
            DamagedArraysError: They are not as they were written.
        """
        if name not in self._expected or not len(rows):
            return
        unread = np.frombuffer(self._unread[name], dtype=np.bool_)
        size = self._arrays[name].strides[0]
        starts = np.asarray(rows, dtype=np.int64) * size
        first, last = starts // BLOCK, (starts + size - 1) // BLOCK
        for step in range(int((last - first).max()) + 1):
            blocks = np.minimum(first + step, last)
            for block in np.unique(blocks[unread[blocks]]).tolist():
                self._check(name, block)

    def _check(self, name: str, block: int) -> None:
        content = self._arrays[name].reshape(-1).view(np.uint8).data
        piece = content[block * BLOCK : (block + 1) * BLOCK]
        if zlib.crc32(piece) != self._expected[name][block]:
            raise DamagedArraysError(
                f"{self._path} holds other bytes of {name!r} than were written"
            )
        self._unread[name][block] = 0
