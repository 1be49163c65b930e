"""The files of a generation as they were written, and which of them are not so any more."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

__all__ = ["DERIVED_FILE", "MEMO_FILE", "FileMark", "find_damage", "mark_files", "mark_sizes"]

FileMark = tuple[int, int]
"""Size in bytes, and CRC-32."""

DERIVED_FILE = "search.arrays"
"""What a search works on, beside the tables of a generation of ours."""

MEMO_FILE = "steps.memo"
"""What the steps of a generation made of what, for the next one."""

_BLOCK = 1 << 20


def mark_files(
    root: Path, folders: Iterable[Path], *, leave_out: Collection[str] = ()
) -> dict[str, FileMark]:
    """Return a mark of every file, by its path below ``root``; what is marked is on the disk.

    Args:
        root: What the paths are relative to.
        folders: Where the files are, at any depth; hidden ones are not marked.
        leave_out: Names of files that may be made again at any time.
    """
    return {
        path.relative_to(root).as_posix(): _mark(path)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.name not in leave_out
    }


def find_damage(
    root: Path, files: Mapping[str, FileMark], *, by_content: bool = False
) -> str | None:
    """Return what is wrong with the first file that is not as it was marked, or ``None``.

    Args:
        root: As for ``mark_files``.
        files: The marks.
        by_content: Read every byte, and not only the sizes.
    """
    for name, (size, checksum) in files.items():
        path = root / name
        try:
            found = path.stat().st_size
        except OSError as error:
            return f"{path} cannot be found ({error.strerror})"
        if found != size:
            return f"{path} has {found:,} bytes, and {size:,} were written"
        if not by_content:
            continue
        try:
            is_whole = _checksum(path) == checksum
        except OSError as error:
            return f"{path} cannot be read ({error.strerror})"
        if not is_whole:
            return f"{path} holds other bytes than were written"
    return None


def mark_sizes(root: Path, paths: Iterable[Path]) -> bytes:
    """Return names and sizes of files, which tell a table of LanceDB from another."""
    return b"".join(
        f"{path.relative_to(root)}:{path.stat().st_size}:".encode() for path in sorted(paths)
    )


def _mark(path: Path) -> FileMark:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())  # a power cut after the commit must not find it empty
    return path.stat().st_size, _checksum(path)


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum
