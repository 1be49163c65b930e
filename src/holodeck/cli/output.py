"""Where words go: results to stdout, everything else to stderr; nothing in them is markup."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, TextIO

import typer

from holodeck.errors import HolodeckError

__all__ = [
    "ReaderGoneError",
    "prepare_streams",
    "say",
    "say_error",
    "show",
    "show_json",
    "show_piece",
]

# All but tab and newline: a document could move the cursor or change the terminal's title.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ReaderGoneError(Exception):
    """Whoever read stdout has had enough, as ``head`` does."""


def prepare_streams() -> None:
    """Let both streams take any character; one that they cannot spell is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a test may have put something simpler in its place
            stream.reconfigure(errors="backslashreplace")


def show(text: str) -> None:
    """Print a result."""
    _write_result(_printable(text) if sys.stdout.isatty() else text)


def show_piece(text: str) -> None:
    """Print a piece of a result that is still being made."""
    _write_result(_printable(text) if sys.stdout.isatty() else text, end="")


def show_json(document: Any) -> None:  # Any: JSON
    """Print the one JSON document of this call."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    _write_result(json.dumps(document, ensure_ascii=not is_utf8, indent=2))


def say(text: str) -> None:
    """Tell the user something that is not the result."""
    try:
        print(_printable(text), file=sys.stderr, flush=True)  # noqa: T201  # the door to stderr
    except OSError:
        _discard(sys.stderr)  # nobody listens, or the disk is full; the work goes on


def say_error(message: str) -> None:
    """Tell the user why there is no result."""
    mark = "error:"
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        typer.secho(mark, fg="red", bold=True, err=True, nl=False)
        mark = ""
    say(f"{mark} {message}")


def _write_result(text: str, end: str = "\n") -> None:
    try:
        print(text, end=end, flush=True)  # noqa: T201  # the door to stdout
    except BrokenPipeError as error:
        _discard(sys.stdout)
        raise ReaderGoneError from error
    except OSError as error:
        _discard(sys.stdout)
        raise HolodeckError(f"the result could not be written: {error.strerror}") from error


def _discard(stream: TextIO) -> None:
    """Send what a stream still gets to nowhere, so that closing it cannot fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _printable(text: str) -> str:
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text.replace("\r\n", "\n"))
