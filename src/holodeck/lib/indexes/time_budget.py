"""A build has its time, and what the disk refuses is an error of the build."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from holodeck.errors import HolodeckError, IndexingError

__all__ = ["in_time"]


@asynccontextmanager
async def in_time(budget: float | None, tool_name: str, root: Path) -> AsyncIterator[None]:
    """Let a build take so many seconds.

    Args:
        budget: ``execution.index_timeout``.
        tool_name: Whose index it is.
        root: Where it lies.

    Raises:
        IndexingError: It took longer, or could not be written.
    """
    try:
        async with asyncio.timeout(budget) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise IndexingError(
            f"building the index of tool {tool_name!r} took longer than {budget:g} s. "
            "What was paid for is kept: raise execution.index_timeout and run 'holodeck index' "
            "again to go on"
        ) from error
    except OSError as error:
        if isinstance(error, HolodeckError):
            raise
        raise IndexingError(
            f"the index of tool {tool_name!r} could not be written to "
            f"{root}: {error}. The old index is untouched: make room or mend the "
            "folder, and build again"
        ) from error
