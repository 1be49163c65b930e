"""No more than so many calls in flight, from whatever loops and threads they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from holodeck.lib.contracts import ChatDelta, ChatModel, ChatReply, ChatRequest, Embedder
from holodeck.lib.providers.loop import PerLoop, iterate_on_private_loop, run_on_private_loop
from holodeck.lib.streams import closing_stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Limited", "LimitedEmbedder"]


class _Slots:
    """First come, first served; counted on the private loop, so one count serves all callers."""

    def __init__(self, concurrency: int) -> None:
        self._semaphore = PerLoop(lambda: asyncio.Semaphore(concurrency))

    def get(self) -> asyncio.Semaphore:
        return self._semaphore.get()


class Limited(ChatModel):
    """At most ``concurrency`` calls of the model at once; the others wait in their order."""

    def __init__(self, model: ChatModel, concurrency: int) -> None:
        self.provider = model.provider
        self.name = model.name
        self._model = model
        self._slots = _Slots(concurrency)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request when its turn comes."""

        async def in_turn() -> ChatReply:
            async with self._slots.get():
                return await self._model.complete(request)

        return await run_on_private_loop(in_turn())

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece; the turn lasts until the stream is closed."""

        async def in_turn() -> AsyncGenerator[ChatDelta, None]:
            async with self._slots.get(), closing_stream(self._model.stream(request)) as deltas:
                async for delta in deltas:
                    yield delta

        async with aclosing(iterate_on_private_loop(in_turn())) as deltas:
            async for delta in deltas:
                yield delta

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        """Tell the model."""
        self._model.expect(prompt_tokens, answer_tokens)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class LimitedEmbedder(Embedder):
    """At most ``concurrency`` calls of the embedder at once; the others wait in their order."""

    def __init__(self, embedder: Embedder, concurrency: int) -> None:
        self.provider = embedder.provider
        self.name = embedder.name
        self._embedder = embedder
        self._slots = _Slots(concurrency)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, when its turn comes."""

        async def in_turn() -> NDArray[np.float32]:
            async with self._slots.get():
                return await self._embedder.embed(texts)

        return await run_on_private_loop(in_turn())

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()
