"""A file of named arrays that is opened by mapping it: what is derived from an index.

Layout: a mark, the length and the CRC-32 of a JSON header, the header, then the arrays, each at an
address that is a multiple of 64 and with its own CRC-32. Nothing in it is code.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["Arrays", "map_arrays", "write_arrays"]

Arrays = Mapping[str, NDArray[Any]]  # Any: numbers of whatever kind an array holds

_MARK = b"HOLODECK ARRAYS\n"
_ALIGNED = 64
_BLOCK = 1 << 22
_KINDS = "biuf"


def write_arrays(path: Path, arrays: Arrays, about: Mapping[str, str]) -> None:
    """Write the arrays in one step: a reader sees the file of before, or this one whole.

    Args:
        path: The file.
        arrays: Numbers only.
        about: What they were derived from; ``map_arrays`` compares it.
    """
    header, whole = _header(arrays, about)
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with staged.open("wb") as stream:
            stream.write(_MARK + len(header).to_bytes(8, "little"))
            stream.write(zlib.crc32(header).to_bytes(4, "little") + header)
            for name in sorted(arrays):
                stream.write(b"\0" * (-stream.tell() % _ALIGNED))
                stream.write(_bytes(arrays[name]))
            assert stream.tell() == whole
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def map_arrays(path: Path, about: Mapping[str, str]) -> Arrays | None:
    """Return the arrays, mapped and read-only.

    Returns:
        ``None`` where there is no such file, it is damaged, or it was derived from something else.
    """
    try:
        with path.open("rb") as stream:
            header = _read_header(stream)
            if header is None or header["about"] != dict(about):
                return None
            if not _is_whole(stream, header):
                return None
        content = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    # Plain arrays over the mapping: a memmap pays for its subclass at each use.
    plain = content.view(np.ndarray)
    return {
        name: plain[start : start + size].view(kind).reshape(shape)
        for name, (kind, shape, start, size, _) in header["arrays"].items()
    }


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _header(arrays: Arrays, about: Mapping[str, str]) -> tuple[bytes, int]:
    """Return the header and the length of the whole file."""
    entries: dict[str, list[Any]] = {}
    for name in sorted(arrays):
        array = arrays[name]
        if array.dtype.kind not in _KINDS:
            raise TypeError(f"array {name!r} holds {array.dtype}, not numbers")
        content = _bytes(array)
        entries[name] = [array.dtype.str, list(array.shape), 0, len(content), zlib.crc32(content)]
    first = len(_MARK) + 12
    length = len(_dump(entries, about)) + 20 * len(entries)  # the addresses are still to come
    at = first + length
    for entry in entries.values():
        at += -at % _ALIGNED
        entry[2] = at
        at += entry[3]
    return _dump(entries, about).ljust(length), at


def _dump(entries: Mapping[str, list[Any]], about: Mapping[str, str]) -> bytes:
    return json.dumps({"about": dict(about), "arrays": entries}).encode()


def _read_header(stream: BinaryIO) -> dict[str, Any] | None:
    if stream.read(len(_MARK)) != _MARK:
        return None
    length = int.from_bytes(stream.read(8), "little")
    expected = int.from_bytes(stream.read(4), "little")
    if length > os.fstat(stream.fileno()).st_size:
        return None
    header = stream.read(length)
    if zlib.crc32(header) != expected:
        return None
    content: dict[str, Any] = json.loads(header)
    return content


def _is_whole(stream: BinaryIO, header: Mapping[str, Any]) -> bool:
    """Tell whether every array is as it was written; read in blocks, so that little is held."""
    buffer = memoryview(bytearray(_BLOCK))
    for _, _, start, size, expected in header["arrays"].values():
        stream.seek(start)
        found, left = 0, size
        while left:
            count = stream.readinto(buffer[: min(left, _BLOCK)])  # type: ignore[attr-defined]  # a binary file has it
            if not count:
                return False
            found = zlib.crc32(buffer[:count], found)
            left -= count
        if found != expected:
            return False
    return True
