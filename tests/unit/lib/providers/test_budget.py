"""A cap on what calls may cost."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable

import pytest

from holodeck.errors import ConfigError, CostLimitError, ProviderError
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.prices import Price
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.budget import capped
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.lib.providers.wrappers import wrap_chat, wrap_embedder
from holodeck.testing import Fault, ModelServer, Reply

Ask = Callable[..., ChatRequest]

DOLLAR = 1_000_000.0
"""USD per million tokens: one for each token."""
PROMPT = 11  # tokens that a one-token prompt reserves: itself, what stands around it, a tenth, 1


def priced(access: ModelAccess, **prices: float) -> ModelAccess:
    """Return access to a model whose prompts cost nothing and whose replies cost 10 USD."""
    price = Price(**{"input": 0.0, "output": DOLLAR, "max_output": 10, **prices})  # type: ignore[arg-type]  # fields of Price
    return dataclasses.replace(access, price=price, max_retries=0)


def say(server: ModelServer, tokens: int) -> None:
    server.reply("chat", Reply(text="a", prompt_tokens=1, completion_tokens=tokens))


async def test_the_call_that_could_pass_the_cap_is_not_made(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """With 25 USD and replies of at most 10, a third is asked for only while 10 are left."""
    say(model_server, 8)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))

    with capped(25.0) as budget:
        for _ in range(2):
            await model.complete(ask())
        with pytest.raises(CostLimitError, match=r"\$16\.00 of \$25\.00 was spent.*\$10\.00"):
            await model.complete(ask())

    assert budget is not None
    assert budget.spent == 16.0
    assert model_server.counts["chat"].calls == 2
    await model.close()


async def test_calls_at_once_never_pass_the_cap_together(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Each reserves its greatest price, so only so many are in flight; short replies leave more."""
    say(model_server, 2)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))

    model_server.pause()
    with capped(35.0):
        calls = asyncio.gather(*(model.complete(ask()) for _ in range(20)), return_exceptions=True)
    await asyncio.to_thread(model_server.wait_for, 3)
    model_server.resume()
    outcomes = await calls

    answered = [each for each in outcomes if not isinstance(each, BaseException)]
    assert model_server.counts["chat"].in_flight_max == 3
    # After thirteen, 26 are spent: a reply of 10 could pass 35.
    assert len(answered) == 13 == model_server.counts["chat"].calls
    assert {type(each) for each in outcomes if isinstance(each, BaseException)} == {CostLimitError}
    await model.close()


async def test_what_the_settings_allow_a_reply_is_what_is_reserved(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """``max_tokens`` of the request goes before the model's greatest reply."""
    say(model_server, 1)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))

    with capped(5.0), pytest.raises(CostLimitError):
        await model.complete(ask())
    with capped(5.0):
        await model.complete(ask(max_tokens=5))

    assert model_server.counts["chat"].calls == 1
    await model.close()


async def test_a_reply_beyond_the_greatest_is_said_and_held_from_then_on(
    model_server: ModelServer, access: ModelAccess, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """Where ``max_output`` is too little, what was in flight overruns the cap, and no more does."""
    say(model_server, 30)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))

    with capped(95.0) as budget, pytest.raises(CostLimitError, match=r"up to \$30\.00"):
        for _ in range(9):
            await model.complete(ask())

    assert budget is not None
    assert budget.spent == 90.0
    assert model_server.counts["chat"].calls == 3
    assert caplog.text.count("cost $30.00, and its greatest price was taken to be $10.00") == 1
    await model.close()


async def test_a_prompt_is_reserved_too(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A prompt that could cost more than is left is not sent."""
    costly = priced(access, input=DOLLAR, output=0.0)
    model = wrap_chat(OpenAIChat(costly), costly)

    with capped(PROMPT - 0.5), pytest.raises(CostLimitError):
        await model.complete(ask())
    with capped(PROMPT + 0.5):
        await model.complete(ask())

    await model.close()


async def test_a_call_that_failed_gives_its_money_back(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A refusal costs nothing; a call that ran out of time counts, since it may be billed."""
    model_server.fault(Fault(kind="chat", status=400, first=1))
    say(model_server, 2)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))
    hasty = dataclasses.replace(priced(access), timeout=0.2)
    slow = wrap_chat(OpenAIChat(hasty), hasty)

    with capped(25.0) as budget:
        assert budget is not None
        with pytest.raises(ProviderError):
            await model.complete(ask())
        assert budget.spent == 0.0
        model_server.pause()
        with pytest.raises(ProviderError):
            await slow.complete(ask())
        model_server.resume()
        assert budget.spent == 10.0

    await model.close()
    await slow.close()


async def test_streams_and_vectors_are_capped(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Whatever has a price: a stream by its reply, an embedding by its texts."""
    say(model_server, 8)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))
    costly = priced(access, input=DOLLAR)
    embedder = wrap_embedder(OpenAIEmbedder(costly), costly)

    with capped(15.0), pytest.raises(CostLimitError):
        _ = [delta async for delta in model.stream(ask())]
        _ = [delta async for delta in model.stream(ask())]
    with capped(3.5) as budget, pytest.raises(CostLimitError):
        await embedder.embed(["a"])
        await embedder.embed(["a", "b", "c"])

    assert budget is not None
    assert budget.spent == 1.0
    assert model_server.counts["chat"].calls == 1
    assert model_server.counts["embedding"].calls == 1
    await model.close()
    await embedder.close()


async def test_only_what_runs_inside_is_capped(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A search beside a build asks the same model, and no cap is on it."""
    say(model_server, 8)
    model = wrap_chat(OpenAIChat(priced(access)), priced(access))

    async def build() -> None:
        with capped(1.0), pytest.raises(CostLimitError):
            await model.complete(ask())

    await asyncio.gather(build(), model.complete(ask()))

    assert model_server.counts["chat"].calls == 1
    await model.close()


async def test_an_unknown_price_is_refused_under_a_cap(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Nobody can say what the call may cost, so it is not made."""
    model = wrap_chat(OpenAIChat(access), access)

    with capped(1.0), pytest.raises(ConfigError, match=r"execution\.prices"):
        await model.complete(ask())

    assert model_server.requests == []
    await model.close()
