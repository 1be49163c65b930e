"""Nothing costs more than its cap: each call reserves its greatest price before it is sent.

A budget holds for what runs inside ``capped``, wherever its calls are made, and for nothing else:
a search beside a build is not counted. Calls wait for each other while together they could pass the
cap; when none is in flight and the next could still pass it, the work stops.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from holodeck.errors import ConfigError, CostLimitError, ProviderTimeoutError
from holodeck.lib.contracts import ChatDelta, ChatModel, ChatReply, ChatRequest, Embedder, Usage
from holodeck.lib.meter import prompt_tokens, used
from holodeck.lib.prices import Price, money
from holodeck.lib.streams import closing_stream
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Budget",
    "Capped",
    "CappedEmbedder",
    "capped",
    "greatest_usage",
    "left_of_cap",
    "reserved",
    "with_spare",
]

logger = logging.getLogger(__name__)

GO_ON = (
    "What was paid for is kept: run 'holodeck index' again to go on, with a higher --max-cost (or "
    "execution.max_cost) to go on further at once"
)
"""What to do next when a build is stopped."""

_SPARE_SHARE = 0.1
"""Of the tokens of a prompt: its model may count more of them than cl100k_base does."""
_MESSAGE_TOKENS = 8  # what stands around a message or a tool


class Budget:
    """What may be spent, what was, and what the calls in flight may still take.

    Args:
        limit: USD.
        advice: What whoever is stopped is told to do next.
    """

    def __init__(self, limit: float, advice: str = GO_ON) -> None:
        self.limit = limit
        self._advice = advice
        self.spent = 0.0
        self._held = 0.0
        self._in_flight = 0
        self._error: CostLimitError | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._overruns: dict[str, float] = {}
        """Model → how many times its greatest price a call of it came to, where more than once."""

    @asynccontextmanager
    async def reserve(self, greatest: float, model: str) -> AsyncIterator[_Receipt]:
        """Hold the greatest price of a call while it is made; its receipt says what it came to.

        Where a call of the model cost more than its greatest price, that much more is held for
        those that follow. To be used on one loop, which all models of the process share.

        Raises:
            CostLimitError: The call could pass the limit, and no other is in flight.
        """
        amount = await self._wait_for(greatest, model)
        self._held += amount
        self._in_flight += 1
        receipt = _Receipt()
        try:
            yield receipt
        except ProviderTimeoutError:
            receipt.cost = amount  # nobody knows whether it was billed
            raise
        finally:
            self._held -= amount
            self._in_flight -= 1
            self.spent += receipt.cost
            if receipt.cost > amount:
                self._note_overrun(model, receipt.cost, greatest)
            self._wake()

    def _note_overrun(self, model: str, cost: float, greatest: float) -> None:
        if model not in self._overruns:
            logger.warning(
                "a call of %s cost %s, and its greatest price was taken to be %s: what was in "
                "flight meanwhile may pass the cost cap, and more is held for each call from now "
                "on; its reply was longer than max_output of its price (execution.prices) or "
                "max_tokens of the model says, or its server counts more tokens of a prompt",
                model,
                money(cost),
                money(greatest),
            )
        self._overruns[model] = max(self._overruns.get(model, 1.0), cost / greatest)

    async def _wait_for(self, greatest: float, model: str) -> float:
        """Wait until a call fits, and return what is to be held for it."""
        while True:
            if self._error is not None:
                raise self._error
            amount = greatest * self._overruns.get(model, 1.0)
            if self.spent + self._held + amount <= self.limit:
                return amount
            if not self._in_flight:
                self._error = self._passed(amount)
                self._wake()
                raise self._error
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _passed(self, amount: float) -> CostLimitError:
        return CostLimitError(
            f"stopped at the cost cap: {money(self.spent)} of {money(self.limit)} was spent, and "
            f"the next call may cost up to {money(amount)}. {self._advice}"
        )


class _Receipt:
    """What a call came to, in USD."""

    cost = 0.0


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def capped(limit: float | None, advice: str = GO_ON) -> Iterator[Budget | None]:
    """Let the model calls that are made inside cost no more than ``limit``; ``None``: any."""
    budget = None if limit is None else Budget(limit, advice)
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)


def left_of_cap() -> float | None:
    """Return what the budget of whoever calls has left; ``None``: there is none."""
    budget = _BUDGET.get()
    return None if budget is None else budget.limit - budget.spent


def greatest_usage(request: ChatRequest, price: Price) -> Usage:
    """Return the most tokens that a request may take."""
    around = _MESSAGE_TOKENS * (len(request.messages) + len(request.tools))
    prompt = prompt_tokens(request) + around
    return Usage(
        input_tokens=with_spare(prompt), output_tokens=request.max_tokens or price.max_output
    )


def with_spare(tokens: int) -> int:
    """Return the most tokens that a model may count of a text that we count so many of."""
    return round(tokens * (1 + _SPARE_SHARE)) + 1


class PricedModel(Protocol):
    """What a message says of a model."""

    provider: str
    name: str


@asynccontextmanager
async def reserved(
    price: Price | None, greatest: Callable[[Price], float], model: PricedModel, where: str
) -> AsyncIterator[_Receipt]:
    """Hold the greatest price of a call while it is made, if whoever calls has a budget.

    Args:
        price: Of the model; with a budget an unknown one is an error.
        greatest: Says the most that the call may cost.
        model: For messages.
        where: The setting that chose the model, for messages.

    Raises:
        ConfigError: Nobody knows the price.
        CostLimitError: The call could pass the budget.
    """
    budget = _BUDGET.get()
    if budget is None:
        yield _Receipt()
        return
    if price is None:
        raise ConfigError(
            f"max_cost cannot hold: the price of {model.provider} model {model.name!r} ({where}) "
            "is not known; give it under execution.prices",
            field="execution.max_cost",
        )
    async with budget.reserve(greatest(price), f"{model.provider} model {model.name!r}") as receipt:
        yield receipt


class Capped(ChatModel):
    """Make no call that could pass the budget of whoever calls.

    Args:
        model: The bare model.
        price: Its price; with a budget an unknown one is an error.
        where: The setting that chose the model, for messages.
    """

    def __init__(self, model: ChatModel, price: Price | None, where: str) -> None:
        self.provider = model.provider
        self.name = model.name
        self._model = model
        self._price = price
        self._where = where

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request, if its greatest price fits."""
        async with self._reserved(request) as receipt:
            reply = await self._model.complete(request)
            receipt.cost = self._cost(request, reply)
            return reply

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece, if the greatest price fits."""
        async with (
            self._reserved(request) as receipt,
            closing_stream(self._model.stream(request)) as deltas,
        ):
            async for delta in deltas:
                if delta.reply is not None:
                    receipt.cost = self._cost(request, delta.reply)
                yield delta

    def _reserved(self, request: ChatRequest) -> AbstractAsyncContextManager[_Receipt]:
        return reserved(
            self._price,
            lambda price: price.of(greatest_usage(request, price)),
            self._model,
            self._where,
        )

    def _cost(self, request: ChatRequest, reply: ChatReply) -> float:
        return 0.0 if self._price is None else self._price.of(used(request, reply))

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        """Tell the model."""
        self._model.expect(prompt_tokens, answer_tokens)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class CappedEmbedder(Embedder):
    """Make no call that could pass the budget of whoever calls; arguments as for ``Capped``."""

    def __init__(self, embedder: Embedder, price: Price | None, where: str) -> None:
        self.provider = embedder.provider
        self.name = embedder.name
        self._embedder = embedder
        self._price = price
        self._where = where

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, if the price fits."""
        if _BUDGET.get() is None:  # nobody need count
            return await self._embedder.embed(texts)
        tokens = sum(count_tokens(text) for text in texts)
        most = Usage(input_tokens=with_spare(tokens))
        async with reserved(
            self._price, lambda price: price.of(most), self._embedder, self._where
        ) as receipt:
            vectors = await self._embedder.embed(texts)
            if self._price is not None:
                receipt.cost = self._price.of(Usage(input_tokens=tokens))
            return vectors

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()
