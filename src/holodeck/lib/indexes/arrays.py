"""A file of named arrays that is opened by mapping it: what is derived from an index.

Layout: a mark, the length and the CRC-32 of a JSON header, the header, the arrays, each at an
address that is a multiple of 64, and the CRC-32 of each block of each array. Nothing in it is code.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.checked_arrays import BLOCK, Arrays, CheckedArrays
from holodeck.lib.whole_text import replacing

__all__ = ["Arrays", "about_arrays", "map_arrays", "open_arrays", "write_arrays"]

_MARK = b"HOLODECK ARRAYS 2\n"
_ALIGNED = 64
_READ = 1 << 22
_KINDS = "biuf"
_CHECKSUM = np.dtype("<u4")


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """Where an array lies, and the first of its checksums."""

    kind: str
    shape: tuple[int, ...]
    start: int
    size: int
    first: int

    @property
    def blocks(self) -> int:
        return -(-self.size // BLOCK)


def write_arrays(path: Path, arrays: Arrays, about: Mapping[str, str]) -> None:
    """Write the arrays in one step: a reader sees the file of before, or this one whole.

    Args:
        path: The file.
        arrays: Numbers only.
        about: What they were derived from; ``map_arrays`` compares it.
    """
    header, entries = _header(arrays, about)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as staged, staged.open("wb") as stream:
        stream.write(_MARK + len(header).to_bytes(8, "little"))
        stream.write(zlib.crc32(header).to_bytes(4, "little") + header)
        checksums: list[int] = []
        for name, entry in entries.items():
            stream.write(b"\0" * (entry.start - stream.tell()))
            for part in _parts(_bytes(arrays[name])):
                checksums.append(zlib.crc32(part))
                stream.write(part)
        table = np.array(checksums, dtype=_CHECKSUM).tobytes()
        stream.write(table + zlib.crc32(table).to_bytes(4, "little"))


def map_arrays(path: Path, about: Mapping[str, str]) -> Arrays | None:
    """Return the arrays, mapped and read-only, once every byte of them is as it was written.

    Returns:
        ``None`` where there is no such file, it is damaged, or it was derived from something else.
    """
    try:
        with path.open("rb") as stream:
            found = _read_header(stream, about)
            if found is None or not _is_whole(stream, *found):
                return None
        return _map(path, found[0])
    except (OSError, ValueError):
        return None


def open_arrays(path: Path, about: Mapping[str, str]) -> CheckedArrays | None:
    """Return the arrays, mapped and read-only; what of them is read is checked when it is read.

    Returns:
        ``None`` as for ``map_arrays``, damage of an array apart.
    """
    try:
        with path.open("rb") as stream:
            found = _read_header(stream, about)
        if found is None:
            return None
        entries, checksums = found
        arrays = _map(path, entries)
    except (OSError, ValueError):
        return None
    expected = {
        name: checksums[entry.first : entry.first + entry.blocks] for name, entry in entries.items()
    }
    return CheckedArrays(arrays, expected, path)


def _map(path: Path, entries: Mapping[str, _Entry]) -> Arrays:
    # Plain arrays over the mapping: a memmap pays for its subclass at each use.
    plain = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)
    return {
        name: plain[entry.start : entry.start + entry.size].view(entry.kind).reshape(entry.shape)
        for name, entry in entries.items()
    }


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _parts(content: memoryview) -> Iterator[memoryview]:
    return (content[start : start + BLOCK] for start in range(0, len(content), BLOCK))


def _header(arrays: Arrays, about: Mapping[str, str]) -> tuple[bytes, dict[str, _Entry]]:
    """Return the header, and where each array lies."""
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise TypeError(f"array {name!r} holds {array.dtype}, not numbers")
    fields: dict[str, list[Any]] = {
        name: [arrays[name].dtype.str, list(arrays[name].shape), 0, arrays[name].nbytes, 0]
        for name in sorted(arrays)
    }
    # The addresses are still to come: 20 digits are enough for each.
    length = len(_dump(fields, about)) + 40 * len(fields)
    at, first = len(_MARK) + 12 + length, 0
    for each in fields.values():
        at += -at % _ALIGNED
        each[2], each[4] = at, first
        at += each[3]
        first += -(-each[3] // BLOCK)
    return _dump(fields, about).ljust(length), _entries(fields)


def _entries(fields: Mapping[str, Iterable[Any]]) -> dict[str, _Entry]:
    return {
        name: _Entry(kind=kind, shape=tuple(shape), start=start, size=size, first=first)
        for name, (kind, shape, start, size, first) in fields.items()
    }


def _dump(fields: Mapping[str, Any], about: Mapping[str, str]) -> bytes:
    return json.dumps({"about": dict(about), "arrays": fields}).encode()


def about_arrays(path: Path) -> Mapping[str, str]:
    """Return what the arrays of a file were derived from; nothing where that cannot be read."""
    try:
        with path.open("rb") as stream:
            content = _read_words(stream, os.fstat(stream.fileno()).st_size)
    except (OSError, ValueError):
        return {}
    about: Mapping[str, str] = {} if content is None else content["about"]
    return about


def _read_words(stream: BinaryIO, whole: int) -> dict[str, Any] | None:  # Any: JSON
    """Return what the header says, if it is whole."""
    if stream.read(len(_MARK)) != _MARK:
        return None
    length = int.from_bytes(stream.read(8), "little")
    expected = int.from_bytes(stream.read(4), "little")
    if length > whole:
        return None
    header = stream.read(length)
    if zlib.crc32(header) != expected:
        return None
    content: dict[str, Any] = json.loads(header)
    return content


def _read_header(
    stream: BinaryIO, about: Mapping[str, str]
) -> tuple[dict[str, _Entry], NDArray[np.uint32]] | None:
    """Return where the arrays lie and the checksums, if both are whole and of ``about``."""
    whole = os.fstat(stream.fileno()).st_size
    content = _read_words(stream, whole)
    if content is None or content["about"] != dict(about):
        return None
    entries = _entries(content["arrays"])
    size = _CHECKSUM.itemsize * sum(entry.blocks for entry in entries.values())
    end = max((entry.start + entry.size for entry in entries.values()), default=stream.tell())
    if whole != end + size + 4:
        return None
    stream.seek(end)
    table, mark = stream.read(size), stream.read(4)
    if zlib.crc32(table) != int.from_bytes(mark, "little"):
        return None
    return entries, np.frombuffer(table, dtype=_CHECKSUM)


def _is_whole(
    stream: BinaryIO, entries: Mapping[str, _Entry], checksums: NDArray[np.uint32]
) -> bool:
    """Tell whether every array is as it was written; read in pieces, so that little is held."""
    buffer = memoryview(bytearray(_READ))
    for entry in entries.values():
        stream.seek(entry.start)
        expected = iter(checksums[entry.first : entry.first + entry.blocks].tolist())
        left = entry.size
        while left:
            piece = buffer[: min(left, _READ)]
            if stream.readinto(piece) != len(piece):  # type: ignore[attr-defined]  # a binary file has it
                return False
            if any(zlib.crc32(part) != next(expected) for part in _parts(piece)):
                return False
            left -= len(piece)
    return True
