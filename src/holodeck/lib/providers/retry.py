"""Trying again: waits as the server asks, or ever longer, within a budget."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from holodeck.errors import ProviderError, ProviderTimeoutError, RateLimitError
from holodeck.lib.contracts import ChatDelta, ChatModel, ChatReply, ChatRequest, Embedder
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.streams import closing_stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RetryPolicy", "Retrying", "RetryingEmbedder", "tried"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

_FIRST_WAIT = 0.5  # seconds
_LONGEST_WAIT = 30.0
_SPREAD = 0.25  # share of a wait that differs from call to call


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often and how long.

    A call that ran out of its time is not tried again here: its time was the user's limit, and
    the next ``index`` asks again.

    Attributes:
        max_retries: Tries after the first.
        budget: Seconds that the waits may add up to.
        sleep: Waits; a test hands in a recorder.
    """

    max_retries: int
    budget: float
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)

    @classmethod
    def of(cls, access: ModelAccess) -> RetryPolicy:
        """Return the policy that the settings ask for."""
        return cls(max_retries=access.max_retries, budget=access.retry_budget)

    async def next_wait(self, error: ProviderError, seed: str, tries: int, waited: float) -> float:
        """Wait before the next try and return the seconds, or raise that there is none.

        Args:
            error: What the last try met.
            seed: What tells this call from others, so that their waits spread.
            tries: Tries so far.
            waited: Seconds waited so far.
        """
        if not error.retryable or isinstance(error, ProviderTimeoutError) or self.max_retries == 0:
            raise error
        if tries > self.max_retries:
            raise _given_up(error, tries, waited, f"the limit is {self.max_retries} retries")
        wait = _wait(error.retry_after, seed, tries)
        if waited + wait > self.budget:
            why = f"the next wait of {wait:.0f} s would exceed the budget of {self.budget:g} s"
            raise _given_up(error, tries, waited, why)
        logger.debug("try %d failed, waiting %.1f s: %s", tries, wait, error)
        await self.sleep(wait)
        return wait


def _wait(told: float | None, seed: str, tries: int) -> float:
    """Return seconds to wait: never less than told, else doubling; spread alike in every run."""
    digest = hashlib.sha256(f"{tries}:{seed}".encode("utf-8", "surrogatepass")).digest()
    spread = _SPREAD * digest[0] / 255
    if told:
        return told + min(1.0, told * spread)
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (tries - 1)) * (1 + spread)


def _given_up(error: ProviderError, tries: int, waited: float, why: str) -> ProviderError:
    cause = "rate limited" if isinstance(error, RateLimitError) else "failed"
    times = "once" if tries == 1 else f"at all {tries} tries"
    return type(error)(
        f"{cause} {times}, after {waited:.0f} s of waiting ({why}; see execution.max_retries and "
        f"execution.retry_budget): {error}",
        retryable=True,
        status=error.status,
        retry_after=error.retry_after,
    )


async def tried(policy: RetryPolicy, seed: str, call: Callable[[], Awaitable[T]]) -> T:
    """Return what ``call`` gives, tried as ``policy`` says; ``seed`` tells it from other calls."""
    tries, waited = 0, 0.0
    while True:
        tries += 1
        try:
            return await call()
        except ProviderError as error:
            waited += await policy.next_wait(error, seed, tries, waited)


class Retrying(ChatModel):
    """Ask the model again when it failed in passing."""

    def __init__(self, model: ChatModel, policy: RetryPolicy) -> None:
        self.provider = model.provider
        self.name = model.name
        self._model = model
        self._policy = policy

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request; the last error says how often it was tried."""
        return await tried(self._policy, _seed(request), lambda: self._model.complete(request))

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece; once a piece is out, a failure is final."""
        tries, waited, begun = 0, 0.0, False
        while True:
            tries += 1
            try:
                async with closing_stream(self._model.stream(request)) as deltas:
                    async for delta in deltas:
                        begun = True
                        yield delta
            except ProviderError as error:
                if begun:
                    raise
                waited += await self._policy.next_wait(error, _seed(request), tries, waited)
            else:
                return

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        """Tell the model."""
        self._model.expect(prompt_tokens, answer_tokens)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class RetryingEmbedder(Embedder):
    """Ask the embedder again when it failed in passing."""

    def __init__(self, embedder: Embedder, policy: RetryPolicy) -> None:
        self.provider = embedder.provider
        self.name = embedder.name
        self._embedder = embedder
        self._policy = policy

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text; the last error says how often it was tried."""
        seed = texts[0] if texts else ""
        return await tried(self._policy, seed, lambda: self._embedder.embed(texts))

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()


def _seed(request: ChatRequest) -> str:
    return request.messages[-1].content if request.messages else ""
