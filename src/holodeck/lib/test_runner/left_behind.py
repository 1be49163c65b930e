"""Work of others, which keeps neither the caller nor the process waiting, nor ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

from holodeck.lib.test_runner.problems import said

__all__ = ["NAME", "in_thread_of_its_own", "not_ending_the_process"]

NAME = "holodeck-function"
"""Of every such thread: who ends the process can tell whether one is still running."""

Result = TypeVar("Result")


@contextmanager
def not_ending_the_process() -> Iterator[None]:
    """Make an ordinary error of what would end the process: it is a matter of this work alone.

    Raises:
        RuntimeError: The work raised ``SystemExit`` or its like. A Ctrl-C is not lost by this: it
            cancels the work as well.
    """
    try:
        yield
    except (Exception, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        raise _as_ordinary(error) from error


def _as_ordinary(error: BaseException) -> RuntimeError:
    return RuntimeError(f"it wanted to end the process ({said(error)})")


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
            told = done.set_exception, _as_ordinary(error)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell, *told)

    Thread(target=run, name=NAME, daemon=True).start()
    return await done
