"""Where words go: results to stdout, everything else to stderr; nothing in them is markup."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import typer

from holodeck.cli.fit import Fitter, fitted, width_of
from holodeck.cli.interrupts import results_at
from holodeck.errors import HolodeckError

__all__ = [
    "Pieces",
    "ReaderGoneError",
    "ResultLostError",
    "guarded_results",
    "prepare_streams",
    "say",
    "say_error",
    "show",
    "show_json",
]

# All but tab and newline: a document could move the cursor or change the terminal's title.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ReaderGoneError(Exception):
    """Whoever read stdout has had enough, as ``head`` does."""


class ResultLostError(HolodeckError):
    """A result could not be written, as on a full disk."""


def prepare_streams() -> None:
    """Let every stream take anything; a character that one cannot spell is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a test may have put something simpler in its place
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):  # whoever reads it says what is wrong with it
        sys.stdin.reconfigure(errors="surrogateescape")


_guarded: TextIO | None = None


@contextmanager
def guarded_results() -> Iterator[None]:
    """Keep stdout for results: what code of others prints meanwhile goes to stderr.

    So does what their subprocesses print, and libraries that write to the descriptor. Not while a
    terminal is read, whose line is edited only where stdout is its screen.
    """
    global _guarded  # there is one stdout
    if _guarded is not None:
        yield
        return
    stdout = sys.stdout
    with _descriptor_kept(stdout) as _guarded, _said_stream() as sys.stdout:
        try:
            yield
        finally:
            _guarded, sys.stdout = None, stdout


@contextmanager
def _said_stream() -> Iterator[TextIO]:
    """Yield a stream to stderr that code of others may close without closing stderr."""
    if not _are_the_process_own(sys.__stdout__, sys.stderr):
        yield sys.stderr
        return
    encoding, errors = sys.stderr.encoding, sys.stderr.errors
    stream = open(  # noqa: SIM115  # closing it may fail, and must not
        2, "w", buffering=1, encoding=encoding, errors=errors, closefd=False
    )
    try:
        yield stream
    finally:
        with suppress(OSError):  # nobody listens, or the disk is full
            stream.close()


@contextmanager
def _descriptor_kept(stdout: TextIO) -> Iterator[TextIO]:
    """Yield a stream to where stdout leads, which its descriptor does not lead to meanwhile."""
    if not _are_the_process_own(stdout, sys.stderr):
        yield stdout
        return
    stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with (
            results_at(kept),
            open(
                kept, "w", encoding=stdout.encoding, errors=stdout.errors, closefd=False
            ) as stream,
        ):
            yield stream
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _are_the_process_own(stdout: TextIO | None, stderr: TextIO | None) -> bool:
    try:
        return (
            stdout is not None
            and stderr is not None
            and (stdout.fileno(), stderr.fileno()) == (1, 2)
        )
    except (OSError, ValueError):  # a test may have put something simpler in its place
        return False


def _results() -> TextIO:
    return _guarded or sys.stdout


def show(text: str) -> None:
    """Print a result."""
    _write_result(_for_terminal(text, _results()) if _results().isatty() else text)


class Pieces:
    """A result that is printed while it is still being made."""

    def __init__(self) -> None:
        width = width_of(_results()) if _results().isatty() else None
        self._fitter = None if width is None else Fitter(width)

    def show(self, text: str) -> None:
        """Print a piece; on a terminal the word at its end waits for what follows."""
        if self._fitter is not None:
            text = self._fitter.feed(_printable(text))
        _write_result(text, end="")

    def end(self) -> None:
        """Print what waits, and end the line."""
        _write_result("" if self._fitter is None else self._fitter.flush())


def show_json(document: Any) -> None:  # Any: JSON
    """Print the one JSON document of this call."""
    is_utf8 = (_results().encoding or "").lower().replace("-", "") == "utf8"
    _write_result(json.dumps(document, ensure_ascii=not is_utf8, indent=2))


def say(text: str) -> None:
    """Tell the user something that is not the result."""
    _write_said(_for_terminal(text, sys.stderr))


def say_error(message: str) -> None:
    """Tell the user why there is no result."""
    mark = "error:"
    text = _for_terminal(f"{mark} {message}", sys.stderr)
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        text = typer.style(mark, fg="red", bold=True) + text.removeprefix(mark)
    _write_said(text)


def _write_said(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201  # the door to stderr
    except OSError:
        _discard(sys.stderr)  # nobody listens, or the disk is full; the work goes on


def _write_result(text: str, end: str = "\n") -> None:
    try:
        print(text, end=end, file=_results(), flush=True)  # the door to stdout
    except BrokenPipeError as error:
        _discard(_results())
        raise ReaderGoneError from error
    except OSError as error:
        _discard(_results())
        raise ResultLostError(f"the result could not be written: {error.strerror}") from error


def _discard(stream: TextIO) -> None:
    """Send what a stream still gets to nowhere, so that closing it cannot fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _for_terminal(text: str, stream: TextIO) -> str:
    """Return a text that moves no cursor, its words whole where ``stream`` has columns."""
    width = width_of(stream) if stream.isatty() else None
    return _printable(text) if width is None else fitted(_printable(text), width)


def _printable(text: str) -> str:
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text.replace("\r\n", "\n"))
