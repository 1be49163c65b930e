"""Work on the private loop, awaited from any other."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor

import pytest

from holodeck.lib.providers.loop import PerLoop, iterate_on_private_loop, run_on_private_loop


async def _where() -> tuple[str, int]:
    return threading.current_thread().name, id(asyncio.get_running_loop())


def test_every_caller_meets_the_same_loop() -> None:
    """Successive asyncio.run, gather and threads all reach one loop in one thread."""

    async def thrice() -> list[tuple[str, int]]:
        return await asyncio.gather(*(run_on_private_loop(_where()) for _ in range(3)))

    met = asyncio.run(thrice()) + asyncio.run(thrice())
    with ThreadPoolExecutor(2) as threads:
        for more in threads.map(lambda _: asyncio.run(thrice()), range(2)):
            met += more

    assert len(set(met)) == 1
    assert met[0][0] == "holodeck-providers"


async def test_a_call_from_the_loop_itself_does_not_wait_for_itself() -> None:
    """A nested call on the private loop is awaited in place."""

    async def nested() -> tuple[str, int]:
        return await run_on_private_loop(_where())

    assert await run_on_private_loop(nested()) == await run_on_private_loop(_where())


async def test_errors_come_back() -> None:
    """What the coroutine raises, the caller gets."""

    async def fail() -> None:
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        await run_on_private_loop(fail())


async def test_a_cancelled_caller_cancels_the_work() -> None:
    """Cancellation reaches the coroutine, which may clean up."""
    begun, cleaned = threading.Event(), threading.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    task = asyncio.create_task(run_on_private_loop(work()))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(cleaned.wait, 10)


async def test_an_iteration_that_is_left_is_closed() -> None:
    """Leaving early closes the generator on the private loop."""
    closed: list[str] = []

    async def count() -> AsyncGenerator[int, None]:
        try:
            for number in range(10):
                yield number
        finally:
            closed.append(threading.current_thread().name)

    numbers = iterate_on_private_loop(count())
    taken = [await anext(numbers), await anext(numbers)]
    await numbers.aclose()

    assert taken == [0, 1]
    assert closed == ["holodeck-providers"]


async def test_an_iteration_that_is_cancelled_is_closed() -> None:
    """A caller that is cancelled while it waits for the next item leaves nothing running."""
    waiting, closed = threading.Event(), threading.Event()

    async def stall() -> AsyncGenerator[int, None]:
        try:
            waiting.set()
            await asyncio.Event().wait()
            yield 0
        finally:
            await asyncio.sleep(0)
            closed.set()

    async def consume() -> None:
        async for _ in iterate_on_private_loop(stall()):
            raise AssertionError("nothing is yielded")

    task = asyncio.create_task(consume())
    await asyncio.to_thread(waiting.wait, 10)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(closed.wait, 10)


def test_what_belongs_to_a_loop_is_made_anew_for_another() -> None:
    """One object a loop; ``take`` gives it once."""
    made = PerLoop(object)

    async def twice() -> tuple[object, object]:
        return made.get(), made.get()

    first, again = asyncio.run(twice())
    other, _ = asyncio.run(twice())

    async def take() -> tuple[object | None, object, object | None, object | None]:
        return made.take(), made.get(), made.take(), made.take()

    foreign, held, taken, gone = asyncio.run(take())

    assert first is again
    assert other is not first
    assert (foreign, gone) == (None, None)
    assert taken is held


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_loop_of_its_own() -> None:
    """After a fork the child works, though its parent's loop thread is not there."""
    asyncio.run(run_on_private_loop(_where()))

    child = os.fork()
    if child == 0:  # no pytest machinery may run in the child
        try:
            name, _ = asyncio.run(asyncio.wait_for(run_on_private_loop(_where()), 10))
            os._exit(0 if name == "holodeck-providers" else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
