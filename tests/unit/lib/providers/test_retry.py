"""Trying again."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from holodeck.errors import (
    AuthenticationError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.lib.providers.retry import Retrying, RetryingEmbedder, RetryPolicy
from holodeck.testing import Fault, ModelServer, ScriptedChat

Ask = Callable[..., ChatRequest]

_LIMITED = RateLimitError("limited (429)", retryable=True, status=429)


class Sleeper:
    """Notes the waits in place of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def sleeper() -> Sleeper:
    """Return a fresh one."""
    return Sleeper()


def _policy(sleeper: Sleeper, *, retries: int = 5, budget: float = 120.0) -> RetryPolicy:
    return RetryPolicy(max_retries=retries, budget=budget, sleep=sleeper)


@pytest.mark.parametrize(
    ("status", "told", "least"),
    [
        (429, {"retry_after": 2}, 2.0),
        (429, {"retry_after_ms": 1500}, 1.5),
        (503, {"retry_after": 2}, 2.0),
        (429, {"retry_after": datetime(2100, 1, 1, tzinfo=UTC)}, 1e9),
    ],
)
async def test_the_servers_wait_is_kept(
    model_server: ModelServer,
    access: ModelAccess,
    ask: Ask,
    sleeper: Sleeper,
    status: int,
    told: dict[str, Any],
    least: float,
) -> None:
    """Three refusals with a wait, in any form, then success: each wait is at least as told."""
    model_server.fault(Fault(status=status, first=3, **told))
    model = Retrying(OpenAIChat(access), _policy(sleeper, budget=1e11))

    reply = await model.complete(ask())

    assert reply.text == "ok"
    assert len(sleeper.waits) == 3
    assert min(sleeper.waits) >= least
    await model.close()


async def test_without_a_hint_waits_double(ask: Ask, sleeper: Sleeper) -> None:
    """0.5 s, then twice as long each time, up to a quarter more; the same in every run."""
    model = Retrying(ScriptedChat([_LIMITED, _LIMITED, _LIMITED, "ok"]), _policy(sleeper))
    again = Sleeper()

    await model.complete(ask())
    await Retrying(ScriptedChat([_LIMITED, _LIMITED, _LIMITED, "ok"]), _policy(again)).complete(
        ask()
    )

    for wait, base in zip(sleeper.waits, (0.5, 1.0, 2.0), strict=True):
        assert base <= wait <= base * 1.25
    assert again.waits == sleeper.waits


async def test_different_calls_wait_differently(ask: Ask, sleeper: Sleeper) -> None:
    """Calls that failed together do not come back together."""
    for text in ("a", "b", "c"):
        await Retrying(ScriptedChat([_LIMITED, "ok"]), _policy(sleeper)).complete(ask(text))

    assert len(set(sleeper.waits)) == 3


async def test_a_limit_for_ever_stops_within_the_budget(
    model_server: ModelServer, access: ModelAccess, ask: Ask, sleeper: Sleeper
) -> None:
    """The waits never exceed the budget; the message names rate limiting and the tries."""
    model_server.fault(Fault(status=429, retry_after=2))
    model = Retrying(OpenAIChat(access), _policy(sleeper, retries=100, budget=10))

    with pytest.raises(RateLimitError) as failure:
        await model.complete(ask())

    calls = model_server.counts["chat"].calls
    assert calls >= 4
    assert sum(sleeper.waits) <= 10
    assert f"rate limited at all {calls} tries" in str(failure.value)
    assert "budget of 10 s" in str(failure.value)
    assert failure.value.retryable
    await model.close()


async def test_retries_are_counted(
    model_server: ModelServer, access: ModelAccess, ask: Ask, sleeper: Sleeper
) -> None:
    """Two retries are three calls."""
    model_server.fault(Fault(status=500))
    model = Retrying(OpenAIChat(access), _policy(sleeper, retries=2))

    with pytest.raises(ProviderError, match=r"failed at all 3 tries.*execution\.max_retries"):
        await model.complete(ask())

    assert model_server.counts["chat"].calls == 3
    await model.close()


async def test_no_retries_are_one_call(
    model_server: ModelServer, access: ModelAccess, ask: Ask, sleeper: Sleeper
) -> None:
    """Retries set to 0: one call, no wait, the error as it came."""
    model_server.fault(Fault(status=429))
    model = Retrying(OpenAIChat(access), _policy(sleeper, retries=0))

    with pytest.raises(RateLimitError, match="limits the rate of calls"):
        await model.complete(ask())

    assert (model_server.counts["chat"].calls, sleeper.waits) == (1, [])
    await model.close()


async def test_a_wait_beyond_the_budget_is_not_begun(ask: Ask, sleeper: Sleeper) -> None:
    """A server that asks for an hour gets the error at once."""
    told = RateLimitError("limited", retryable=True, status=429, retry_after=3600)
    model = Retrying(ScriptedChat([told]), _policy(sleeper))

    with pytest.raises(RateLimitError, match="rate limited once"):
        await model.complete(ask())

    assert sleeper.waits == []


@pytest.mark.parametrize(
    "error", [AuthenticationError("no"), ProviderTimeoutError("late", retryable=True)]
)
async def test_some_errors_are_final(ask: Ask, sleeper: Sleeper, error: ProviderError) -> None:
    """A wrong key stays wrong, and the time for a call is given once."""
    model = Retrying(ScriptedChat([error]), _policy(sleeper))

    with pytest.raises(type(error)) as failure:
        await model.complete(ask())

    assert failure.value is error
    assert sleeper.waits == []


async def test_a_stream_is_tried_again_before_it_begins(
    model_server: ModelServer, access: ModelAccess, ask: Ask, sleeper: Sleeper
) -> None:
    """A refused stream is asked for again; one that broke off is not, for its text is out."""
    model_server.reply("chat", "a text that is long enough to be sent in several pieces")
    model_server.fault(Fault(status=503, first=1))
    model = Retrying(OpenAIChat(access), _policy(sleeper))

    deltas = [delta async for delta in model.stream(ask())]
    model_server.fault(Fault(cut_stream=True))
    with pytest.raises(ProviderError):
        _ = [delta async for delta in model.stream(ask())]

    assert "".join(delta.text for delta in deltas).startswith("a text")
    assert len(sleeper.waits) == 1
    assert model_server.counts["chat"].calls == 3
    await model.close()


async def test_embeddings_are_tried_again(
    model_server: ModelServer, access: ModelAccess, sleeper: Sleeper
) -> None:
    """An embedder is retried by the same rules."""
    model_server.fault(Fault(status=503, retry_after=2, first=2))
    embedder = RetryingEmbedder(OpenAIEmbedder(access), _policy(sleeper))

    vectors = await embedder.embed(["Ann"])

    assert vectors.shape == (1, 256)
    assert np.all(np.array(sleeper.waits) >= 2)
    await embedder.close()


def test_the_policy_is_that_of_the_settings() -> None:
    """Retries and budget come from the execution block."""
    access = ModelAccess(provider="openai", name="m", max_retries=7, retry_budget=9.5)

    policy = RetryPolicy.of(access)

    assert (policy.max_retries, policy.budget) == (7, 9.5)
    assert dataclasses.replace(policy, max_retries=0).sleep is asyncio.sleep
