"""Texts that every encoding can write, and files that are never half."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing", "well_formed", "write_whole"]

_HALF = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Return ``text`` with both halves of a character joined; half of one becomes U+FFFD."""
    if _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write a file that takes the place of ``path`` in one step at the end.

    A reader, and whoever comes after a crash, sees the file of before or the new one whole. Where
    it fails nothing is left; where the process is killed, ``name.PID.tmp`` is.

    Raises:
        OSError: It cannot take the place.
    """
    staged = path.with_name(f"{path.name[:100]}.{os.getpid()}.tmp")
    try:
        yield staged
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file in one step: where that fails, what was there before is as it was.

    What is no file (``/dev/stdout``, a pipe) is written to; a link stays one.

    Raises:
        OSError: It cannot be written.
    """
    content = well_formed(text).encode("utf-8")
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    with replacing(target) as staged:
        staged.write_bytes(content)
        if target.exists():
            shutil.copymode(target, staged)
