"""Streams that are closed when their reader stops early."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

__all__ = ["closing_stream"]

T = TypeVar("T")


@asynccontextmanager
async def closing_stream(stream: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """Close ``stream`` at the end of the block, where it can be closed.

    ``ChatModel.stream`` promises an iterator only; most are generators, which hold a connection
    until they are closed.
    """
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
