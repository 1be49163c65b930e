"""Carrying out one call of the command line: from its words to its exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, cast

import typer

from holodeck.cli.app import app
from holodeck.cli.encoding import restart_in_utf8
from holodeck.cli.interrupts import INTERRUPTED, MESSAGE, asks_for_json, error_document
from holodeck.cli.output import (
    ReaderGoneError,
    ResultLostError,
    prepare_streams,
    say,
    say_error,
    show_json,
)
from holodeck.cli.session import Session
from holodeck.errors import ConfigError, HolodeckError

__all__ = ["main"]

EXECUTION_FAILED = 3

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
    session = Session(as_json=asks_for_json(words))
    try:
        return _reported(words, commands, session)
    except ReaderGoneError:
        return 0
    except ResultLostError as error:
        say_error(str(error))  # as text with --json too: a document would be lost as well
        return error.exit_code


def _reported(words: list[str], commands: typer.Typer, session: Session) -> int:
    """Carry the command out; whatever goes wrong becomes one message and an exit code."""
    try:
        return _invoke(words, commands, session)
    except UsageError as error:
        return _report_usage(error, session)
    except ResultLostError:
        raise
    except HolodeckError as error:
        _report(session, type(error).__name__, error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _report(session, "Interrupted", MESSAGE)
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
    if error.__cause__ is not None:
        error.message = _demanded(error.__cause__) or error.message
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


def _demanded(cause: BaseException) -> str | None:
    """Say what an option must be, where pydantic looked at it."""
    from pydantic import ValidationError

    from holodeck.config.messages import demanded

    return demanded(cause.errors()[0]) if isinstance(cause, ValidationError) else None


def _report(session: Session, name: str, error: HolodeckError | str) -> None:
    if not session.as_json:
        say_error(str(error))
        return
    message, place = str(error), dict[str, Any]()  # Any: JSON
    if isinstance(error, ConfigError):
        message = error.message
        file = None if error.file is None else str(error.file)
        place = {"file": file, "line": error.line, "field": error.field}
    show_json(error_document(name, message, **place))
