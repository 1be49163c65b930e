"""Carrying out one call of the command line: from its words to its exit code."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, cast

import typer

from holodeck.cli.app import app
from holodeck.cli.encoding import restart_in_utf8
from holodeck.cli.output import ReaderGoneError, prepare_streams, say, say_error, show_json
from holodeck.cli.session import Session
from holodeck.errors import ConfigError, HolodeckError

__all__ = ["main"]

EXECUTION_FAILED = 3
INTERRUPTED = 130

# The root of all that is wrong with a command's words; its module differs between typer's releases.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])


def main(arguments: Sequence[str] | None = None, *, commands: typer.Typer = app) -> int:
    """Carry out the command line and return its exit code.

    Args:
        arguments: The words after the program's name; default: those of this process.
        commands: What the words may name.
    """
    if arguments is None:
        restart_in_utf8()
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    session = Session(as_json=_asks_for_json(words))
    try:
        return _reported(words, commands, session)
    except ReaderGoneError:
        return 0


def _reported(words: list[str], commands: typer.Typer, session: Session) -> int:
    """Carry the command out; whatever goes wrong becomes one message and an exit code."""
    try:
        with _termination_as_interrupt():
            return _invoke(words, commands, session)
    except UsageError as error:
        return _report_usage(error, session)
    except HolodeckError as error:
        _report(session, type(error).__name__, error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _report(session, "Interrupted", "interrupted; an index that was there is as it was")
        return INTERRUPTED
    except ReaderGoneError:
        raise
    except Exception as error:  # noqa: BLE001  # the last door: nobody sees a trace unasked
        if session.is_verbose:
            say("".join(traceback.format_exception(error)).rstrip())
        name = type(error).__name__
        hint = "" if session.is_verbose else "; run with -v for the trace"
        _report(session, name, f"unexpected {name}: {error}{hint}")
        return EXECUTION_FAILED


def _invoke(words: list[str], commands: typer.Typer, session: Session) -> int:
    command = typer.main.get_command(commands)
    try:
        with command.make_context("holodeck", words, obj=session) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError as error:
        raise ReaderGoneError from error  # only the help is printed by typer itself
    return 0


def _report_usage(error: typer.BadParameter, session: Session) -> int:
    context = getattr(error, "ctx", None)
    message = error.format_message()
    if session.as_json:
        _report(session, "UsageError", message)
    elif not message or type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        if context is not None:
            say(context.get_usage())
        say_error(f"{message} (see '{context.command_path if context else 'holodeck'} --help')")
    return error.exit_code


def _report(session: Session, name: str, error: HolodeckError | str) -> None:
    if not session.as_json:
        say_error(str(error))
        return
    place: dict[str, Any] = {"file": None, "line": None, "field": None}  # Any: JSON
    message = str(error)
    if isinstance(error, ConfigError):
        message = error.message
        file = None if error.file is None else str(error.file)
        place = {"file": file, "line": error.line, "field": error.field}
    show_json({"error": {"type": name, "message": message, **place}})


def _asks_for_json(words: list[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, so that what was begun is cleaned up."""
    if current_thread() is not main_thread():  # only there may a handler be set
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:  # a shell starts background jobs with Ctrl-C ignored
        raise KeyboardInterrupt
