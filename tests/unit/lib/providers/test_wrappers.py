"""The whole stack around a model, as the settings ask for it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path

from holodeck.lib.contracts import ChatRequest, ToolCall
from holodeck.lib.meter import Meter
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.lib.providers.reply_store import ReplyStore
from holodeck.lib.providers.retry import RetryPolicy
from holodeck.lib.providers.wrappers import wrap_chat, wrap_embedder
from holodeck.testing import Fault, ModelServer, Reply, ScriptedChat

Ask = Callable[..., ChatRequest]


async def test_a_wait_holds_no_place(access: ModelAccess, ask: Ask) -> None:
    """With one place, a call that waits for its second try lets the others through."""
    fault = Fault(status=429, first=1, containing="first")
    with ModelServer(faults=[fault]) as server:
        one = dataclasses.replace(access, api_base=server.url, concurrency=1)
        others_done = asyncio.Event()

        async def wait_for_others(seconds: float) -> None:
            await asyncio.wait_for(others_done.wait(), 30)

        policy = RetryPolicy(max_retries=1, budget=10, sleep=wait_for_others)
        model = wrap_chat(OpenAIChat(one), one, policy=policy)
        first = asyncio.create_task(model.complete(ask("first")))

        await asyncio.gather(model.complete(ask("second")), model.complete(ask("third")))
        others_done.set()
        await first

        assert sorted(request.text for request in server.requests[:3]) == [
            "first",
            "second",
            "third",
        ]
        assert server.requests[3].text == "first"
        assert model.usage()["chat"].calls == 3
        await model.close()


async def test_settings_reach_the_wrappers(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Concurrency is that of the access, and a model keeps its names."""
    three = dataclasses.replace(access, concurrency=3)
    model = wrap_chat(OpenAIChat(three), three)
    model_server.pause()
    calls = asyncio.gather(*(model.complete(ask()) for _ in range(7)))
    await asyncio.to_thread(model_server.wait_for, 3)
    model_server.resume()
    await calls

    assert model_server.counts["chat"].in_flight_max == 3
    assert (model.provider, model.name) == ("openai", "m")
    await model.close()


def test_what_is_expected_reaches_the_model(access: ModelAccess) -> None:
    """No wrapper keeps it to itself."""
    told: list[tuple[int, int | None]] = []

    class Told(ScriptedChat):
        def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
            told.append((prompt_tokens, answer_tokens))

    wrap_chat(Told([]), access).expect(9000, 500)

    assert told == [(9000, 500)]


async def test_embeddings_are_counted_when_they_are_paid_for(
    model_server: ModelServer, access: ModelAccess, tmp_path: Path
) -> None:
    """A vector from the store is no call; without a store every text is asked for."""
    meter = Meter()
    with ReplyStore(tmp_path / "replies.sqlite") as store:
        cached = wrap_embedder(OpenAIEmbedder(access), access, meter, store)
        bare = wrap_embedder(OpenAIEmbedder(access), access, meter)

        for embedder in (cached, cached, bare, bare):
            await embedder.embed(["Ann"])

        assert meter.usage()["embed"].calls == 3
        assert model_server.counts["embedding"].calls == 3
        await cached.close()
        await bare.close()


async def test_halves_of_a_character_are_joined_as_they_arrive(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A pair cut between two pieces is one character, a lone half U+FFFD; in calls of tools too."""
    text = "x" * 15 + "\ud83d\ude00 and \ud83d"  # a piece of the stream ends after 16
    call = ToolCall(id="c1", name="search", arguments='{"query": "\\ud83d\\ude00 \\udc00"}')
    model_server.reply("chat", Reply(text=text, tool_calls=(call,)))
    model = wrap_chat(OpenAIChat(access), access)
    right = "x" * 15 + "\U0001f600 and \ufffd"

    whole = await model.complete(ask())
    deltas = [delta async for delta in model.stream(ask())]

    assert whole.text == right
    assert "".join(delta.text for delta in deltas) == right
    last = deltas[-1].reply
    assert last is not None
    assert last.text == right
    for reply in (whole, last):
        assert reply.tool_calls[0].arguments == '{"query": "\U0001f600 \ufffd"}'
    await model.close()
