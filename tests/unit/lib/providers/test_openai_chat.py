"""Chat over the OpenAI wire format, against the loopback server."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from holodeck.errors import ConfigError, ContentFilterError, ProviderError
from holodeck.lib.contracts import ChatReply, ChatRequest, Message, Tool, ToolCall, Usage
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.openai import OpenAIChat
from holodeck.testing import Fault, ModelServer, Reply

Ask = Callable[..., ChatRequest]

_CALL = ToolCall(id="c1", name="search", arguments='{"query": "Orion"}')


async def test_a_reply_comes_with_its_usage(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Text, reason and tokens are the server's; nothing is sent that was not set."""
    model_server.reply("chat", Reply(text="Ann.", prompt_tokens=7, completion_tokens=2))
    model = OpenAIChat(access)

    reply = await model.complete(ask("Who?"))

    usage = Usage(input_tokens=7, output_tokens=2)
    assert reply == ChatReply(text="Ann.", finish_reason="stop", usage=usage)
    assert model_server.requests[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Who?"}],
    }
    assert model_server.requests[0].headers["authorization"] == "Bearer sk-test"
    await model.close()


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("gpt-4o", "max_tokens"),
        ("llama3", "max_tokens"),
        ("o3-mini", "max_completion_tokens"),
        ("openai/o1", "max_completion_tokens"),
        ("gpt-5-nano", "max_completion_tokens"),
    ],
)
async def test_settings_are_sent_as_the_model_takes_them(
    model_server: ModelServer, access: ModelAccess, ask: Ask, name: str, limit: str
) -> None:
    """Limit, temperature and JSON mode arrive, the limit under the name of the family."""
    model = OpenAIChat(dataclasses.replace(access, name=name))

    await model.complete(ask("as json", temperature=1.0, max_tokens=9, json=True))

    sent = {key: text for key, text in model_server.requests[0].body.items() if key != "messages"}
    assert sent == {
        "model": name,
        "temperature": 1.0,
        limit: 9,
        "response_format": {"type": "json_object"},
    }
    await model.close()


async def test_tools_are_offered_and_called(model_server: ModelServer, access: ModelAccess) -> None:
    """A whole turn with a tool: offered, called, answered."""
    model_server.replay([Reply(text=None, tool_calls=(_CALL,)), "Ann runs Orion."], kind="chat")
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    tool = Tool(name="search", description="Look it up", parameters=schema)
    question = Message(role="user", content="Who?")
    model = OpenAIChat(access)

    called = await model.complete(ChatRequest(messages=(question,), tools=(tool,)))
    turns = (
        question,
        Message(role="assistant", content=called.text, tool_calls=called.tool_calls),
        Message(role="tool", content="Ann", tool_call_id="c1"),
    )
    answer = await model.complete(ChatRequest(messages=turns, tools=(tool,)))

    assert (called.tool_calls, called.finish_reason, called.text) == ((_CALL,), "tool_calls", "")
    assert answer.text == "Ann runs Orion."
    offered = model_server.requests[0].body["tools"][0]["function"]
    assert offered == {"name": "search", "description": "Look it up", "parameters": schema}
    *_, asked, answered = model_server.requests[1].body["messages"]
    function = {"name": "search", "arguments": '{"query": "Orion"}'}
    assert asked["content"] == ""  # never null, which some servers refuse
    assert asked["tool_calls"] == [{"id": "c1", "type": "function", "function": function}]
    assert answered == {"role": "tool", "content": "Ann", "tool_call_id": "c1"}
    await model.close()


async def test_a_stream_is_the_reply_in_pieces(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """The pieces make up the text; the last delta is the whole reply with usage and tool calls."""
    text = "Ann runs Orion, and Orion bakes bread."
    said = Reply(text=text, tool_calls=(_CALL,), prompt_tokens=5, completion_tokens=6)
    model_server.reply("chat", said)
    model = OpenAIChat(access)

    *pieces, last = [delta async for delta in model.stream(ask())]

    assert len(pieces) > 1
    assert "".join(piece.text for piece in pieces) == text
    assert last.reply == ChatReply(
        text=text,
        finish_reason="tool_calls",
        usage=Usage(input_tokens=5, output_tokens=6),
        tool_calls=(_CALL,),
    )
    await model.close()


async def test_a_stream_that_breaks_off_is_an_error(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Half a reply never looks like a whole one."""
    model_server.reply("chat", "a text of more than a few pieces, so that half of it comes")
    model_server.fault(Fault(cut_stream=True))
    model = OpenAIChat(access)

    with pytest.raises(ProviderError) as failure:
        _ = [delta async for delta in model.stream(ask())]

    assert failure.value.retryable
    await model.close()


async def test_a_stream_that_ends_before_it_begins_tells_the_likely_reason(
    access: ModelAccess, ask: Ask
) -> None:
    """llama.cpp's server answers a prompt that is too long with a stream of nothing."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n"

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = OpenAIChat(dataclasses.replace(access, api_base=f"http://127.0.0.1:{port}"))
        with pytest.raises(ProviderError, match="longer than the model takes"):
            [delta async for delta in model.stream(ask())]
        await model.close()


async def test_a_stream_may_be_left(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A reader that stops early closes the connection, and the model goes on working."""
    model_server.reply("chat", "long " * 200)
    model = OpenAIChat(access)

    async with aclosing(model.stream(ask())) as deltas:  # type: ignore[type-var]  # a generator
        first = await anext(aiter(deltas))

    assert first.text.startswith("long")
    assert (await model.complete(ask())).text.startswith("long")
    await model.close()


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
async def test_every_spelling_of_the_url_works(
    model_server: ModelServer, access: ModelAccess, ask: Ask, suffix: str
) -> None:
    """A URL without a path gets /v1; a slash at its end makes no difference."""
    model = OpenAIChat(dataclasses.replace(access, api_base=model_server.root + suffix))

    await model.complete(ask())

    assert model_server.requests[0].path == "/v1/chat/completions"
    await model.close()


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:9001",
        "ftp://h/v1",
        "http://",
        "http://h/v1?key=sk-1",
        "http://h:x",
        "http://h::1",
    ],
)
def test_a_url_that_cannot_be_used_is_a_configuration_error(url: str) -> None:
    """The message names the setting and not the URL, which may hold a key."""
    access = ModelAccess(provider="openai", name="m", api_base=url, where="tools[0].search_model")

    with pytest.raises(ConfigError, match=r"tools\[0\]\.search_model\.api_base") as failure:
        OpenAIChat(access)

    assert "sk-1" not in str(failure.value)


async def test_a_server_without_keys_gets_none(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Without a key no Authorization header is sent."""
    model = OpenAIChat(dataclasses.replace(access, api_key=None))

    await model.complete(ask())

    assert "authorization" not in model_server.requests[0].headers
    await model.close()


@pytest.mark.parametrize(
    "reply",
    [Reply(text="", refusal="I will not."), Reply(text="a", finish_reason="content_filter")],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_is_no_answer(
    model_server: ModelServer, access: ModelAccess, ask: Ask, reply: Reply, stream: bool
) -> None:
    """What the model would not say is an error that is not retried, streamed or not."""
    model_server.reply("chat", reply)
    model = OpenAIChat(access)

    with pytest.raises(ContentFilterError) as failure:
        if stream:
            _ = [delta async for delta in model.stream(ask())]
        else:
            await model.complete(ask())

    assert not failure.value.retryable
    await model.close()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_web_page_is_no_answer(
    model_server: ModelServer, access: ModelAccess, ask: Ask, stream: bool
) -> None:
    """Something else behind the URL is named, with the URL and the model."""
    model_server.fault(Fault(not_json=True))
    model = OpenAIChat(access)

    with pytest.raises(ProviderError) as failure:
        if stream:
            _ = [delta async for delta in model.stream(ask())]
        else:
            await model.complete(ask())

    assert model_server.url in str(failure.value)
    assert "'m'" in str(failure.value)
    await model.close()


def test_one_model_serves_successive_loops_and_threads(access: ModelAccess, ask: Ask) -> None:
    """asyncio.run twice, gather and worker threads may share one model."""
    model = OpenAIChat(access)

    async def three() -> list[str]:
        replies = await asyncio.gather(*(model.complete(ask()) for _ in range(3)))
        return [reply.text for reply in replies]

    texts = asyncio.run(three()) + asyncio.run(three())
    with ThreadPoolExecutor(2) as threads:
        for more in threads.map(lambda _: asyncio.run(three()), range(2)):
            texts += more
    asyncio.run(model.close())

    assert texts == ["ok"] * 12


async def test_a_cancelled_call_leaves_the_model_usable(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """Cancelling one call ends it alone; closing twice is fine, and a later call opens again."""
    model_server.fault(Fault(hang=30, containing="slow"))
    model = OpenAIChat(access)
    slow = asyncio.create_task(model.complete(ask("slow")))
    await asyncio.to_thread(model_server.wait_for, 1)
    slow.cancel()

    with pytest.raises(asyncio.CancelledError):
        await slow
    assert (await model.complete(ask("quick"))).text == "ok"
    await model.close()
    await model.close()
    assert (await model.complete(ask("quick"))).text == "ok"
    await model.close()
