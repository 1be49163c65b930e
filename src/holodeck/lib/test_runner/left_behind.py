"""Work in a thread that may be left behind: it keeps neither the caller nor the process waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

__all__ = ["NAME", "in_thread_of_its_own"]

NAME = "holodeck-function"
"""Of every such thread: who ends the process can tell whether one is still running."""

Result = TypeVar("Result")


async def in_thread_of_its_own(work: Callable[[], Result]) -> Result:
    """Return what ``work`` returns, or raise what it raises; cancelled, it is left running.

    Not ``asyncio.to_thread``, whose threads the end of the process waits for.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()
    context = copy_context()

    def tell(setter: Callable[..., None], value: object) -> None:
        if not done.done():  # nobody waits any more for one that was left behind
            setter(value)

    def run() -> None:
        told: tuple[Callable[..., None], object]
        try:
            told = done.set_result, context.run(work)
        except StopIteration as error:  # what no future takes
            told = done.set_exception, RuntimeError(f"it raised StopIteration({error})")
        except Exception as error:  # noqa: BLE001  # handed to the caller, whatever it is
            told = done.set_exception, error
        except BaseException as error:  # noqa: BLE001  # no Ctrl-C: that reaches the main thread alone
            why = f"it wanted to end the process ({type(error).__name__}: {error})"
            told = done.set_exception, RuntimeError(why)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell, *told)

    Thread(target=run, name=NAME, daemon=True).start()
    return await done
