"""Paths of people's files where the system's file name encoding cannot spell them.

Under a locale such as ``C``, Python may read and write file names as ASCII: a name that YAML spells
``문서`` cannot be opened then, and a name that a folder lists comes as escaped bytes. Files are
opened by ``openable`` paths and named in messages, indexes and hashes by ``shown`` ones.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["openable", "readable_name", "shown"]


def openable(path: Path) -> Path:
    """Return ``path`` as this process can open it; the same path where it already can."""
    return Path(os.fsdecode(str(path).encode("utf-8", "surrogateescape")))


def shown(name: str) -> str:
    r"""Return a file name as text that can be printed and stored: bad bytes as ``\xff``."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def readable_name(name: str) -> str | None:
    """Return a listed file name as text, or None when it cannot stand in a line of text.

    A name that is not UTF-8 has no text; one with a newline could forge a line of its own.
    """
    try:
        text = os.fsencode(name).decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_line = len(text.splitlines()) == 1 and all(
        ord(char) >= 32 and char != "\x7f" for char in text
    )
    return text if is_line else None
