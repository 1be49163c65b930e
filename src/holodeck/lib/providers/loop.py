"""One event loop of our own, on which all clients live.

A client's connections belong to the loop that opened them. Users call from many: successive
``asyncio.run``, notebooks, threads. So clients run on one private loop in a daemon thread, and
callers wait for them from wherever they are. A forked child begins with a loop of its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, Generic, TypeVar

__all__ = ["PerLoop", "iterate_on_private_loop", "run_on_private_loop"]

T = TypeVar("T")
Item = TypeVar("Item")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _private_loop() -> asyncio.AbstractEventLoop:
    global _loop  # one for the process is the point
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            thread = threading.Thread(
                target=_loop.run_forever, name="holodeck-providers", daemon=True
            )
            thread.start()
        return _loop


def _forget_loop() -> None:
    """Leave the parent's loop alone: its thread does not exist in a forked child."""
    global _loop, _lock
    _loop = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_forget_loop)


async def run_on_private_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run ``coroutine`` on the private loop and return its result to the caller's loop.

    A cancelled caller cancels it. Called on the private loop itself, it is simply awaited.
    """
    loop = _private_loop()
    if asyncio.get_running_loop() is loop:
        return await coroutine
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


class _End:
    """What stands for the end of an iteration."""


async def iterate_on_private_loop(
    items: AsyncGenerator[Item, None],
) -> AsyncGenerator[Item, None]:
    """Yield what ``items`` yields, running it on the private loop.

    When the caller stops early or is cancelled, ``items`` is closed there.
    """
    turn = PerLoop(asyncio.Lock)

    async def advance() -> Item | _End:
        async with turn.get():
            return await anext(items, _END)

    async def finish() -> None:
        async with turn.get():  # a cancelled advance() must have ended
            await items.aclose()

    try:
        while not isinstance(item := await run_on_private_loop(advance()), _End):
            yield item
    finally:
        await run_on_private_loop(finish())


_END = _End()


class PerLoop(Generic[T]):
    """Something that belongs to one loop, made anew when another loop asks (after a fork)."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._held: tuple[asyncio.AbstractEventLoop, T] | None = None

    def get(self) -> T:
        """Return the running loop's own; made at the first call."""
        loop = asyncio.get_running_loop()
        if self._held is None or self._held[0] is not loop:
            self._held = (loop, self._make())
        return self._held[1]

    def take(self) -> T | None:
        """Return the running loop's own, if there is one, and forget it."""
        held, self._held = self._held, None
        return held[1] if held is not None and held[0] is asyncio.get_running_loop() else None
