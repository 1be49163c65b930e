"""What was asked of models, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from holodeck.errors import ProviderError
from holodeck.lib.contracts import (
    ChatReply,
    ChatRequest,
    Message,
    MeterRow,
    Spent,
    Tool,
    ToolCall,
    Usage,
)
from holodeck.lib.meter import Meter, accounted, prompt_tokens, used
from holodeck.lib.prices import Price
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.meter import Metered, MeteredEmbedder
from holodeck.lib.providers.openai import OpenAIChat
from holodeck.lib.tokens import count_tokens
from holodeck.testing import ModelServer, Reply, ScriptedChat, WordEmbedder

Ask = Callable[..., ChatRequest]


def _spent(calls: int, input_tokens: int, output_tokens: int = 0) -> Spent:
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    return Spent(calls=calls, usage=usage, unpriced=calls)


async def test_calls_are_counted_by_purpose(ask: Ask) -> None:
    """Answered calls and their tokens add up; a failed call costs nothing here."""
    reply = ChatReply(text="a", usage=Usage(input_tokens=3, output_tokens=1))
    model = Metered(ScriptedChat([reply, reply, reply, ProviderError("down")]))

    for purpose in ("extract", "extract", "report"):
        await model.complete(ask(purpose=purpose))
    with pytest.raises(ProviderError):
        await model.complete(ask(purpose="report"))

    assert model.usage() == {"extract": _spent(2, 6, 2), "report": _spent(1, 3, 1)}
    assert model.meter.total() == _spent(3, 9, 3)


async def test_a_stream_is_counted_once(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """The usage of a streamed answer arrives with its end."""
    said = Reply(text="a text of several pieces", prompt_tokens=9, completion_tokens=4)
    model_server.reply("chat", said)
    model = Metered(OpenAIChat(access))

    _ = [delta async for delta in model.stream(ask(purpose="answer"))]

    assert model.usage() == {"answer": _spent(1, 9, 4)}
    await model.close()


async def test_one_meter_serves_several_models(ask: Ask) -> None:
    """Rows tell model and purpose apart, as a price needs it; embeddings count their tokens."""
    meter = Meter()
    embedder = MeteredEmbedder(WordEmbedder(), meter)

    await Metered(ScriptedChat(["x"], name="big"), meter).complete(ask())
    await embedder.embed(["Ann runs Orion", "Bob"])

    tokens = count_tokens("Ann runs Orion") + count_tokens("Bob")
    assert meter.rows() == (
        MeterRow(provider="testing", model="big", purpose="chat", spent=_spent(1, 1, 1)),
        MeterRow(provider="testing", model="words", purpose="embed", spent=_spent(1, tokens)),
    )
    assert embedder.usage() == meter.usage()


async def test_money_is_counted_where_the_price_is_known(ask: Ask) -> None:
    """A call without a price costs nobody knows what: it is counted as such, not as nothing."""
    meter = Meter()
    reply = ChatReply(text="a", usage=Usage(input_tokens=1_000_000, output_tokens=500_000))
    priced = Metered(ScriptedChat([reply]), meter, Price(input=2.0, output=8.0))

    await priced.complete(ask())
    await Metered(ScriptedChat([reply]), meter).complete(ask())

    total = meter.total()
    assert (total.calls, total.cost, total.unpriced) == (2, 6.0, 1)


async def test_a_server_that_counts_no_tokens_is_counted_for(ask: Ask) -> None:
    """A reply without usage is not free."""
    model = Metered(ScriptedChat([ChatReply(text="one two three")]))

    await model.complete(ask("four five"))

    expected = Usage(
        input_tokens=count_tokens("four five"), output_tokens=count_tokens("one two three")
    )
    assert model.meter.total().usage == expected


def test_tools_and_calls_are_part_of_a_prompt(ask: Ask) -> None:
    """Where a server counts nothing, offered tools and calls of them are counted with the words."""
    call = ToolCall(id="1", name="add", arguments='{"a": 1}')
    tool = Tool(name="add", description="Add numbers", parameters={"type": "object"})
    plain = ask()
    said = Message(role="assistant", content="", tool_calls=(call,))
    called = replace(plain, messages=(*plain.messages, said))

    assert prompt_tokens(plain) < prompt_tokens(called)
    assert prompt_tokens(ask(tools=(tool,))) >= prompt_tokens(plain) + count_tokens("Add numbers")
    assert used(plain, ChatReply(text="", tool_calls=(call,))).output_tokens > 0


async def test_whoever_keeps_account_hears_of_calls_of_any_model(ask: Ask) -> None:
    """A call counts for its model, and inside ``accounted`` for the account too."""
    reply = ChatReply(text="a", usage=Usage(input_tokens=3, output_tokens=1))
    model = Metered(ScriptedChat([reply, reply, reply]))
    await model.complete(ask(purpose="answer"))

    with accounted() as account:
        task = asyncio.create_task(model.complete(ask(purpose="answer")))
        await task
    await model.complete(ask(purpose="answer"))

    assert account.total() == _spent(1, 3, 1)
    assert model.meter.total() == _spent(3, 9, 3)
