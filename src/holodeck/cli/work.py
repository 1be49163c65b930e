"""The work of a command, run to its end or until somebody has had enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from threading import Timer
from types import FrameType
from typing import Any, TypeVar

from holodeck.cli.interrupts import end_process, handled_by

__all__ = ["GRACE_SECONDS", "carry_out"]

GRACE_SECONDS = 2.0
"""How long work that was interrupted may clean up; the next build sweeps what it leaves."""

Result = TypeVar("Result")


class _Interrupt:
    """Cancels a task at the first signal; ends the process at the second, or when it takes long."""

    def __init__(self) -> None:
        self.came = False
        self.cancel: Callable[[], object] = lambda: None
        self._timer: Timer | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            end_process()
        self.came = True
        self._timer = Timer(GRACE_SECONDS, end_process)
        self._timer.daemon = True
        self._timer.start()
        self.cancel()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def carry_out(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's work to its end, as ``asyncio.run`` does.

    Raises:
        KeyboardInterrupt: A signal came; the work was cancelled and has cleaned up.
    """
    interrupt = _Interrupt()
    try:
        with handled_by(interrupt), asyncio.Runner() as runner:
            return runner.run(_cancellable(work, interrupt, runner.get_loop()))
    except BaseException:
        if interrupt.came:
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
