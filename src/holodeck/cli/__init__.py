"""The command line: one file a command; each parses, calls and prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, *, commands: typer.Typer | None = None) -> int:
    """Carry out the command line and return its exit code.

    Args:
        arguments: The words after the program's name; default: those of this process.
        commands: What the words may name; default: the commands of HoloDeck.
    """
    if arguments is None:  # before what takes long to import: Ctrl-C may come at any moment
        from holodeck.cli.interrupts import end_at_once
        from holodeck.cli.streams import open_closed_streams

        end_at_once()
        open_closed_streams()
    from holodeck.cli import run

    code = run.main(arguments) if commands is None else run.main(arguments, commands=commands)
    if arguments is None:
        from holodeck.cli.leaving import leave_threads_behind

        leave_threads_behind(code)
    return code
