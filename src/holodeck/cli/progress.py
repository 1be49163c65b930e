"""How far a build is, on stderr: a bar on a terminal, elsewhere some lines for each step."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from holodeck.cli.output import say
from holodeck.cli.session import Session

if TYPE_CHECKING:
    from rich.progress import TaskID

    from holodeck.lib.contracts import Progress, ProgressListener

__all__ = ["headline", "show_progress"]

LINES_OF_STEP = 5
"""Lines that a step gets at most where there is no terminal, after its first."""
LEAST_ITEMS = 50
"""Items of a step that gets more than its first line."""


@contextmanager
def show_progress(session: Session) -> Iterator[ProgressListener]:
    """Yield a listener that shows what it is told; nothing when the session is quiet."""
    if session.is_quiet:
        yield lambda progress: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with ExitStack() as stack:
            yield _Bars(stack)
    else:
        yield _StepLines()


class _StepLines:
    """Says each step when it begins, and of a long one how far it is, now and then."""

    def __init__(self) -> None:
        self._step: str | None = None
        self._share = 0

    def __call__(self, progress: Progress) -> None:
        total = progress.total
        if progress.step != self._step:
            self._step, self._share = progress.step, 0
            say(progress.step if total is None else f"{progress.step} ({total})")
        if total is None or total < LEAST_ITEMS:
            return
        share = progress.done * LINES_OF_STEP // total
        if share > self._share:
            from holodeck.lib.spending import said_spent

            self._share = share
            spent = "" if progress.spent is None else f": {said_spent(progress.spent)}"
            say(f"{progress.step} {progress.done}/{total}{spent}")


class _Bars:
    """A bar for each step below a line with what there is and what was spent.

    Nothing is drawn before there is something to draw, so that a question may stand there.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._bars: Any = None  # Any: rich's Progress, imported when it is drawn
        self._tasks: dict[str, TaskID] = {}
        self._counts: dict[str, int] = {}

    def __call__(self, progress: Progress) -> None:
        if self._bars is None:
            self._bars = self._stack.enter_context(_drawn())
        if progress.step not in self._tasks:
            self._fill_uncounted()
            self._tasks[progress.step] = self._bars.add_task(progress.step, total=None)
        if progress.total is not None and progress.step in ("read", "chunk"):
            self._counts[progress.step] = progress.total
        self._bars.headline = headline(self._counts, progress)
        self._bars.update(self._tasks[progress.step], completed=progress.done, total=progress.total)

    def _fill_uncounted(self) -> None:
        """Draw a step that counted nothing as done, since another begins."""
        for task in self._bars.tasks:
            if task.total is None:
                self._bars.update(task.id, completed=1, total=1)


def headline(counts: dict[str, int], progress: Progress) -> str:
    """Return what there is to index, and what was spent on it so far."""
    from holodeck.lib.spending import said_spent

    names = {"read": "documents", "chunk": "chunks"}
    parts = [f"{counts[step]:,} {name}" for step, name in names.items() if step in counts]
    if progress.spent is not None:
        parts.append(said_spent(progress.spent))
    return ", ".join(parts)


def _drawn() -> Any:  # Any: rich's Progress
    from rich.console import Console, RenderableType
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars
    from rich.text import Text

    class BarsBelowLine(Bars):
        headline = ""

        def get_renderables(self) -> Iterator[RenderableType]:
            """Draw the line by itself: in the bars' table it would take their room."""
            if self.headline:
                yield Text(self.headline)
            yield from super().get_renderables()

    return BarsBelowLine(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        redirect_stdout=False,
    )
