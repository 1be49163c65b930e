"""Many texts in two arrays, and finding one among many without holding them as objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.checked_arrays import CheckedArrays

__all__ = ["Finder", "Texts", "text_arrays", "text_at", "text_marks"]

Marks = NDArray[np.uint64]


class Texts(Sequence[str]):
    """Texts, each decoded when it is asked for.

    Args:
        content: UTF-8.
        ends: Where each text ends in it.
    """

    __slots__ = ("_end_of", "_view", "content", "ends")

    def __init__(self, content: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.content = content
        self.ends = ends
        # What a text is cut out with: several times as fast as the arrays themselves.
        self._view = content.data
        self._end_of = ends.item

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Return the texts in two arrays."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        sizes = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        content = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(content, np.cumsum(sizes))

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if row < 0:
            row += len(self.ends)
        if not 0 <= row < len(self.ends):
            raise IndexError(row)
        start = self._end_of(row - 1) if row else 0
        return str(self._view[start : self._end_of(row)], "utf-8")

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self.ends)))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each text."""
        return np.diff(self.ends, prepend=0)


def text_arrays(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return texts as the arrays ``name`` and ``name_ends``."""
    found = Texts.of(texts)
    return {name: found.content, f"{name}_ends": found.ends}


def text_at(arrays: CheckedArrays, name: str, row: int) -> str:
    """Return one of the texts that ``text_arrays`` put there; no other is read."""
    ends = arrays.part(f"{name}_ends", max(row - 1, 0), row + 1).tolist()
    return str(arrays.part(name, ends[0] if row else 0, ends[-1]).data, "utf-8")


class Finder:
    """Finds the rows of a text; the texts need not differ.

    Args:
        texts: What is looked among.
        marks: The hash of each text, in order.
        rows: The row of each hash.
    """

    def __init__(self, texts: Sequence[str], marks: Marks, rows: NDArray[np.int64]) -> None:
        self._texts = texts
        self.marks = marks
        self.rows = rows

    @classmethod
    def of(cls, texts: Sequence[str]) -> Finder:
        """Return a finder over texts."""
        marks = text_marks(texts)
        order = np.argsort(marks, kind="stable")
        return cls(texts, marks[order], order)

    def find(self, wanted: Sequence[str], marks: Marks | None = None) -> list[list[int]]:
        """Return, for each of the texts that are looked for, the rows where it stands.

        Args:
            wanted: The texts.
            marks: Their hashes, where several finders are asked for the same; see ``text_marks``.
        """
        if marks is None:
            marks = text_marks(wanted)
        starts = np.searchsorted(self.marks, marks, side="left").tolist()
        ends = np.searchsorted(self.marks, marks, side="right").tolist()
        return [
            # Two texts may have one hash.
            [row for row in self.rows[start:end].tolist() if self._texts[row] == text]
            if start < end
            else []
            for text, start, end in zip(wanted, starts, ends, strict=True)
        ]


def text_marks(texts: Sequence[str]) -> Marks:
    """Return the hash by which a ``Finder`` looks for each text."""
    digests = (
        hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
