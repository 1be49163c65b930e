"""Many texts as several embedding calls, none of them too large."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

__all__ = ["map_or_cancel", "split_into_batches"]

T = TypeVar("T")
Result = TypeVar("Result")

BATCH_TEXTS = 256
# A token has at least one byte, so a batch stays below OpenAI's 300,000 tokens a request.
BATCH_BYTES = 250_000


def split_into_batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield runs of ``texts``, in order: at most 256 texts and 250,000 bytes of UTF-8.

    A longer text is alone in its batch: whether the model takes it is the server's word.
    """
    begin = size = 0
    for end, text in enumerate(texts):
        added = len(text.encode("utf-8", "surrogatepass"))
        if end > begin and (end - begin == BATCH_TEXTS or size + added > BATCH_BYTES):
            yield texts[begin:end]
            begin, size = end, 0
        size += added
    if begin < len(texts):
        yield texts[begin:]


async def map_or_cancel(work: Callable[[T], Awaitable[Result]], items: Sequence[T]) -> list[Result]:
    """Return ``work`` of every item, in order, all at once; the first error cancels the others."""

    async def one(item: T) -> Result:
        return await work(item)

    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
