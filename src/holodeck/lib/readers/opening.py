"""The bytes of a document, whatever its kind."""

from __future__ import annotations

from pathlib import Path

from holodeck.errors import ReadError

__all__ = ["read_bytes"]


def read_bytes(file: Path) -> bytes:
    """Return what ``file`` holds.

    Raises:
        ReadError: It cannot be opened.
    """
    try:
        return file.read_bytes()
    except OSError as error:
        raise ReadError(f"it cannot be opened: {error.strerror or error}") from error
