"""Texts that every encoding can write, and files that are never half."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

__all__ = ["well_formed", "write_whole"]

_HALF = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Return ``text`` with both halves of a character joined; half of one becomes U+FFFD."""
    if _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
    staged = target.with_name(f".{target.name[:100]}.{os.getpid()}.tmp")
    try:
        staged.write_bytes(content)
        if target.exists():
            shutil.copymode(target, staged)
        staged.replace(target)
    finally:
        staged.unlink(missing_ok=True)
