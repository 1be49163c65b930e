"""What was asked of models and what it took, by purpose."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from holodeck.lib.contracts import (
    ChatDelta,
    ChatModel,
    ChatReply,
    ChatRequest,
    Embedder,
    MeterRow,
    Spent,
    Usage,
)
from holodeck.lib.prices import Price
from holodeck.lib.streams import closing_stream
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EMBED_PURPOSE", "Meter", "MeterRow", "Metered", "MeteredEmbedder", "Spent", "used"]

EMBED_PURPOSE = "embed"


def used(request: ChatRequest, reply: ChatReply) -> Usage:
    """Return the tokens of a call: as the server says, else counted, for one that says nothing."""
    if reply.usage.input_tokens or reply.usage.output_tokens:
        return reply.usage
    return Usage(
        input_tokens=sum(count_tokens(message.content) for message in request.messages),
        output_tokens=count_tokens(reply.text),
    )


class Meter:
    """Counts for any number of models; may be used from several threads."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str, str], Spent] = {}
        self._lock = threading.Lock()

    def record(
        self, *, provider: str, model: str, purpose: str, usage: Usage, price: Price | None = None
    ) -> None:
        """Count one answered call; ``price`` is ``None`` where nobody knows it."""
        key = (provider, model, purpose)
        spent = Spent(
            calls=1,
            usage=usage,
            cost=0.0 if price is None else price.of(usage),
            unpriced=int(price is None),
        )
        with self._lock:
            self._spent[key] = self._spent.get(key, Spent()) + spent

    def rows(self) -> tuple[MeterRow, ...]:
        """Return the counts by provider, model and purpose, sorted: what a price is made from."""
        with self._lock:
            counted = sorted(self._spent.items())
        return tuple(
            MeterRow(provider=provider, model=model, purpose=purpose, spent=spent)
            for (provider, model, purpose), spent in counted
        )

    def usage(self) -> dict[str, Spent]:
        """Return the counts by purpose, over all models."""
        by_purpose: dict[str, Spent] = {}
        for row in self.rows():
            by_purpose[row.purpose] = by_purpose.get(row.purpose, Spent()) + row.spent
        return by_purpose

    def total(self) -> Spent:
        """Return the counts over everything."""
        return sum((row.spent for row in self.rows()), Spent())


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
        self.meter.record(
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
        self.meter.record(
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
