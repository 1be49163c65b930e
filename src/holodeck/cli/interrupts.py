"""Ctrl-C and SIGTERM: one line and exit code 130, at any moment, and never a trace.

Light: this is in force before anything else of the command line is imported.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "INTERRUPTED",
    "MESSAGE",
    "asks_for_json",
    "end_at_once",
    "end_process",
    "error_document",
    "handled_by",
    "leave",
    "raise_interrupts",
    "results_at",
]

INTERRUPTED = 130
MESSAGE = (
    "interrupted; an index that was there is as it was, and what was paid for it is kept for the "
    "next run"
)
_results = 1  # the descriptor of results
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Handler = Callable[[int, FrameType | None], Any]


def asks_for_json(words: list[str]) -> bool:
    """Tell whether the words of a command line ask for one JSON document."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


def error_document(name: str, message: str, **place: object) -> dict[str, Any]:  # Any: JSON
    """Return an error as ``--json`` prints it."""
    nowhere = {"file": None, "line": None, "field": None}
    return {"error": {"type": name, "message": message, **nowhere, **place}}


def end_process(number: int = 0, frame: FrameType | None = None) -> NoReturn:
    """Say that the process was interrupted and end it, whatever it is doing.

    Nothing of an index is ever half, locks end with their process, and so does a build's child.
    """
    if asks_for_json(sys.argv[1:]):
        _write(_results, json.dumps(error_document("Interrupted", MESSAGE), indent=2))
    else:
        _write(2, f"error: {MESSAGE}")
    leave()


def leave() -> NoReturn:
    """End the process, which has said that it was interrupted."""
    os._exit(INTERRUPTED)


def _write(descriptor: int, text: str) -> None:
    # Not by the streams of Python: the signal may have come in the middle of their work.
    try:
        if os.isatty(2):
            os.write(2, b"\r\x1b[?25h\n")  # a progress bar hides the cursor
        os.write(descriptor, f"{text}\n".encode())
    except OSError:
        pass  # nobody listens


def end_at_once() -> None:
    """Let both signals end this process from here on; one that is ignored stays ignored."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end_process)


@contextmanager
def handled_by(handler: Handler, *numbers: signal.Signals) -> Iterator[None]:
    """Let a handler have signals meanwhile; one that is ignored stays ignored.

    Args:
        handler: Called in the main thread; elsewhere nothing changes.
        numbers: Default: Ctrl-C and SIGTERM.
    """
    if current_thread() is not main_thread():  # only there may a handler be set
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers or _SIGNALS}
    for number, old in before.items():
        if old is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def results_at(descriptor: int) -> Iterator[None]:
    """Print the document of an interruption to this descriptor meanwhile."""
    global _results  # a signal may come at any moment: it is handed nothing
    before, _results = _results, descriptor
    try:
        yield
    finally:
        _results = before


@contextmanager
def raise_interrupts() -> Iterator[None]:
    """Let Ctrl-C raise ``KeyboardInterrupt``, for a command that goes on after it."""
    with handled_by(signal.default_int_handler, signal.SIGINT):
        yield
