"""Reading a text file of the user's configuration, with an error that says what to do."""

from __future__ import annotations

from pathlib import Path

from holodeck.errors import ConfigError

__all__ = ["read_text"]


def read_text(file: Path) -> str:
    """Return the UTF-8 text of ``file`` without a byte order mark.

    Raises:
        ConfigError: It is not UTF-8 or cannot be read.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", file=file) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    raise ConfigError("is not UTF-8 text here: save the file as UTF-8", file=file, line=line)
