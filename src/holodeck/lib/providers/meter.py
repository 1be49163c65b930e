"""Models that count what they answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from holodeck.lib.contracts import (
    ChatDelta,
    ChatModel,
    ChatReply,
    ChatRequest,
    Embedder,
    Spent,
    Usage,
)
from holodeck.lib.meter import Meter, record_call, used
from holodeck.lib.prices import Price
from holodeck.lib.streams import closing_stream
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EMBED_PURPOSE", "Metered", "MeteredEmbedder"]

EMBED_PURPOSE = "embed"


class Metered(ChatModel):
    """Count the model's answers in a meter, at a price; ``None``: nobody knows it."""

    def __init__(
        self, model: ChatModel, meter: Meter | None = None, price: Price | None = None
    ) -> None:
        self.provider = model.provider
        self.name = model.name
        self.meter = meter or Meter()
        self._model = model
        self._price = price

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request and count it."""
        reply = await self._model.complete(request)
        self._record(request, reply)
        return reply

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece; counted when the whole is there."""
        async with closing_stream(self._model.stream(request)) as deltas:
            async for delta in deltas:
                if delta.reply is not None:
                    self._record(request, delta.reply)
                yield delta

    def usage(self) -> dict[str, Spent]:
        """Return the meter's counts by purpose."""
        return self.meter.usage()

    def _record(self, request: ChatRequest, reply: ChatReply) -> None:
        record_call(
            self.meter,
            provider=self.provider,
            model=self.name,
            purpose=request.purpose,
            usage=used(request, reply),
            price=self._price,
        )

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        """Tell the model."""
        self._model.expect(prompt_tokens, answer_tokens)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class MeteredEmbedder(Embedder):
    """Count the embedder's calls in a meter, under the purpose ``embed``.

    An embedder returns no usage, so the tokens are those of cl100k_base: exact for OpenAI's
    embedding models, close for others.
    """

    def __init__(
        self, embedder: Embedder, meter: Meter | None = None, price: Price | None = None
    ) -> None:
        self.provider = embedder.provider
        self.name = embedder.name
        self.meter = meter or Meter()
        self._embedder = embedder
        self._price = price

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text and count the call."""
        vectors = await self._embedder.embed(texts)
        usage = Usage(input_tokens=sum(count_tokens(text) for text in texts))
        record_call(
            self.meter,
            provider=self.provider,
            model=self.name,
            purpose=EMBED_PURPOSE,
            usage=usage,
            price=self._price,
        )
        return vectors

    def usage(self) -> dict[str, Spent]:
        """Return the meter's counts by purpose."""
        return self.meter.usage()

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()
