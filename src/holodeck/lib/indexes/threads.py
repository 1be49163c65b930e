"""Work in a thread that its caller never leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["to_its_end"]

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")


async def to_its_end(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Run ``function`` in a thread and wait for it also when cancelled: a thread cannot be stopped.

    What it writes is then whole before the lock is given back, or its folder deleted.
    """
    running = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        running.exception()  # the cancellation is what the caller hears of
        raise
