"""The log of one build, beside the index: what was done when, a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from holodeck.lib.contracts import Progress

__all__ = ["KEPT_LOGS", "BuildLog", "keep_log"]

KEPT_LOGS = 10
"""Builds whose logs are kept; older ones are deleted when the next build begins."""


class BuildLog:
    """Appends to the file that the build process logs to as well.

    Args:
        folder: Of the logs.
        generation: What is built.
    """

    def __init__(self, folder: Path, generation: str) -> None:
        self.path = folder / f"build-{generation}.log"
        self._step: str | None = None
        older = sorted(path for path in folder.glob("build-*.log") if path != self.path)
        for path in older[: max(0, len(older) - KEPT_LOGS + 1)]:
            path.unlink(missing_ok=True)

    def note(self, text: str) -> None:
        """Write a line."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self.path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"{now} {text}\n")

    def note_step(self, progress: Progress) -> None:
        """Write a line when a step begins."""
        if progress.step != self._step:
            self._step = progress.step
            total = "" if progress.total is None else f" ({progress.total:,})"
            self.note(f"{progress.step}{total}")


@contextmanager
def keep_log(
    folder: Path, generation: str, title: str, end: Callable[[], str]
) -> Iterator[BuildLog]:
    """Keep the log of what is done meanwhile.

    Args:
        folder: Of the logs.
        generation: What is built.
        title: What is done, and why.
        end: Returns what came of it.
    """
    log = BuildLog(folder, generation)
    log.note(title)
    try:
        yield log
        log.note(f"published: {end()}")
    except BaseException as error:
        with suppress(OSError):  # what ended the build is what its caller hears of
            log.note(f"nothing was published: {type(error).__name__}: {error}")
        raise
