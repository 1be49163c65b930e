"""Names of people's files as text, where the system's file name encoding cannot spell them.

Under a locale such as ``C``, a name that a folder lists comes as escaped bytes. Files are named in
messages, indexes and hashes as ``shown`` says.
"""

from __future__ import annotations

import os

__all__ = ["readable_name", "shown"]


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
