"""Calls side by side: bounded, in order, and all given up when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

__all__ = ["side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")


async def side_by_side(
    function: Callable[[Item], Awaitable[Result]], items: Sequence[Item], limit: int
) -> list[Result]:
    """Await ``function`` over the items, at most ``limit`` at once; order is kept.

    The first failure cancels what is still running, lets nothing begin, and is raised.
    """
    slots = asyncio.Semaphore(limit)
    has_failed = False

    async def one(item: Item) -> Result:
        nonlocal has_failed
        async with slots:
            if has_failed:  # the cancellation is on its way
                raise asyncio.CancelledError
            try:
                return await function(item)
            except BaseException:
                has_failed = True
                raise

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
