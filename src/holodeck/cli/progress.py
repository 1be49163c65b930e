"""How far a build is, on stderr: a bar on a terminal, elsewhere a line for each step."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holodeck.cli.output import say
from holodeck.cli.session import Session

if TYPE_CHECKING:
    from rich.progress import TaskID

    from holodeck.lib.contracts import Progress, ProgressListener

__all__ = ["show_progress"]


@contextmanager
def show_progress(session: Session) -> Iterator[ProgressListener]:
    """Yield a listener that shows what it is told; nothing when the session is quiet."""
    if session.is_quiet:
        yield lambda progress: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _bar() as listener:
            yield listener
    else:
        yield _StepLines()


class _StepLines:
    """Says each step once, when it begins."""

    def __init__(self) -> None:
        self._step: str | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.step != self._step:
            self._step = progress.step
            say(progress.step if progress.total is None else f"{progress.step} ({progress.total})")


@contextmanager
def _bar() -> Iterator[ProgressListener]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), redirect_stdout=False) as bars:
        tasks: dict[str, TaskID] = {}

        def listen(progress: Progress) -> None:
            if progress.step not in tasks:
                tasks[progress.step] = bars.add_task(progress.step, total=None)
            bars.update(tasks[progress.step], completed=progress.done, total=progress.total)

        yield listen
