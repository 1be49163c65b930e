"""So many calls in flight and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.limits import Limited, LimitedEmbedder
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.testing import Fault, ModelServer

Ask = Callable[..., ChatRequest]


async def test_exactly_as_many_are_in_flight(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Sixty calls at a limit of 25: never more at once, and no fewer at the peak."""
    model = Limited(OpenAIChat(access), 25)
    model_server.pause()
    calls = asyncio.gather(*(model.complete(ask()) for _ in range(60)))
    await asyncio.to_thread(model_server.wait_for, 25)
    model_server.resume()
    await calls

    counted = model_server.counts["chat"]
    assert (counted.calls, counted.in_flight_max) == (60, 25)
    await model.close()


async def test_embeddings_are_limited_too(model_server: ModelServer, access: ModelAccess) -> None:
    """An embedder has the same limit."""
    embedder = LimitedEmbedder(OpenAIEmbedder(access), 3)
    model_server.pause()
    calls = asyncio.gather(*(embedder.embed(["Ann"]) for _ in range(8)))
    await asyncio.to_thread(model_server.wait_for, 3)
    model_server.resume()
    await calls

    counted = model_server.counts["embedding"]
    assert (counted.calls, counted.in_flight_max) == (8, 3)
    await embedder.close()


def test_one_limit_holds_over_loops_and_threads(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Callers from several loops share one count."""
    model = Limited(OpenAIChat(access), 2)

    async def three() -> None:
        await asyncio.gather(*(model.complete(ask()) for _ in range(3)))

    model_server.pause()
    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(asyncio.run, three()) for _ in range(3)]
        model_server.wait_for(2)
        model_server.resume()
        for each in running:
            each.result()
    asyncio.run(model.close())

    counted = model_server.counts["chat"]
    assert (counted.calls, counted.in_flight_max) == (9, 2)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_cancelled_call_gives_its_place_back(
    model_server: ModelServer, access: ModelAccess, ask: Ask, stream: bool
) -> None:
    """After a cancellation the one place is free again."""
    model_server.fault(Fault(hang=30, containing="slow"))
    model = Limited(OpenAIChat(access), 1)

    async def read() -> None:
        async for _ in model.stream(ask("slow")):
            pass

    asked = read() if stream else model.complete(ask("slow"))
    slow: asyncio.Task[object] = asyncio.create_task(asked)
    await asyncio.to_thread(model_server.wait_for, 1)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow

    assert (await asyncio.wait_for(model.complete(ask("quick")), 30)).text == "ok"
    await model.close()


async def test_those_who_wait_are_served_in_their_order(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """First come, first served."""
    model = Limited(OpenAIChat(access), 1)

    await asyncio.gather(*(model.complete(ask(f"n{number}")) for number in range(6)))

    asked = [request.text for request in model_server.requests]
    assert asked == [f"n{number}" for number in range(6)]
    await model.close()


async def test_a_stream_is_a_stream(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Pieces pass the limit one by one."""
    text = "Ann runs Orion, and Orion bakes bread."
    model_server.reply("chat", text)
    model = Limited(OpenAIChat(access), 1)

    *pieces, last = [delta async for delta in model.stream(ask())]

    assert len(pieces) > 1
    assert last.reply is not None
    assert last.reply.text == text
    await model.close()
