"""The work of a command, run to its end or until somebody has had enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from threading import Lock, Timer
from types import FrameType
from typing import Any, TypeVar

from holodeck.cli.interrupts import end_process, handled_by, leave

__all__ = ["GRACE_SECONDS", "LastWords", "carry_out"]

GRACE_SECONDS = 2.0
"""How long work that was interrupted may clean up; the next build sweeps what it leaves."""

Result = TypeVar("Result")
LastWords = Callable[[], bool]
"""Says what was reached when work is interrupted; ``False``: there is nothing to say."""


class _Interrupt:
    """Cancels a task at the first signal; ends the process at the second, or when it takes long."""

    def __init__(self, last_words: LastWords) -> None:
        self.came = False
        self._last_words = last_words
        self._speaking = Lock()
        self._has_spoken = False
        self._was_something_said = False
        self.cancel: Callable[[], object] = lambda: None
        self._timer: Timer | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            end_process()
        self.came = True
        self._timer = Timer(GRACE_SECONDS, self._end)
        self._timer.daemon = True
        self._timer.start()
        self.cancel()

    def speak(self) -> None:
        """Say the last words once, and wait for them."""
        with self._speaking:
            if not self._has_spoken:
                self._has_spoken = True
                self._was_something_said = self._last_words()

    def _end(self) -> None:
        self.speak()
        if self._was_something_said:
            leave()
        end_process()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def carry_out(
    work: Coroutine[Any, Any, Result], *, last_words: LastWords = lambda: False
) -> Result:
    """Run a command's work to its end, as ``asyncio.run`` does.

    Args:
        work: The work.
        last_words: Called when it was interrupted and has cleaned up, or takes too long to.

    Raises:
        KeyboardInterrupt: A signal came; the work was cancelled and has cleaned up.
    """
    interrupt = _Interrupt(last_words)
    try:
        with handled_by(interrupt), asyncio.Runner() as runner:
            return runner.run(_cancellable(work, interrupt, runner.get_loop()))
    except BaseException:
        if interrupt.came:
            interrupt.speak()
            raise KeyboardInterrupt from None
        raise
    finally:
        interrupt.close()


async def _cancellable(
    work: Coroutine[Any, Any, Result], interrupt: _Interrupt, loop: asyncio.AbstractEventLoop
) -> Result:
    task = asyncio.current_task()
    if task is not None:
        interrupt.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
    if interrupt.came:  # before this began
        work.close()
        raise asyncio.CancelledError
    return await work
