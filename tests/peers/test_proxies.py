"""Our providers against servers that others wrote: LiteLLM's proxy and ollama-proxy-plus.

Each stands before the loopback server, so that no key and no network is needed. Shape, usage,
streams and refusals are looked at, never content. See ``install.sh`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic import SecretStr

from holodeck.errors import ProviderError
from holodeck.lib.contracts import ChatRequest, Message, Tool, ToolCall
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.lib.providers.access import ModelAccess
from holodeck.testing import ModelServer, Reply

pytestmark = [pytest.mark.peers, pytest.mark.slow, pytest.mark.xdist_group("peers")]

StartPeer = Callable[..., str]

MASTER_KEY = "sk-peer-master"
LITELLM = """\
model_list:
  - {{model_name: m, litellm_params: {{model: openai/m, api_base: {url}, api_key: x}}}}
  - {{model_name: e, litellm_params: {{model: openai/e, api_base: {url}, api_key: x}}}}
general_settings: {{master_key: {key}}}
litellm_settings: {{telemetry: false, num_retries: 0}}
router_settings: {{num_retries: 0, disable_cooldowns: true}}
"""


RUN_LITELLM = "from litellm import run_server; run_server()"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A running server, what stands behind it, and how a provider reaches it."""

    upstream: ModelServer
    chat: ModelAccess
    embedding: ModelAccess


@pytest.fixture(scope="module")
def upstream() -> Iterator[ModelServer]:
    """Return the server behind every peer."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def litellm(
    upstream: ModelServer, start_peer: StartPeer, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """Return the URL of a running LiteLLM proxy."""
    config = tmp_path_factory.mktemp("config") / "config.yaml"
    config.write_text(LITELLM.format(url=upstream.url, key=MASTER_KEY), encoding="utf-8")
    return start_peer(
        "litellm", "python", "-c", RUN_LITELLM, "--config", str(config), "--host", "127.0.0.1",
        "--port", "{port}", LITELLM_LOCAL_MODEL_COST_MAP="True",
    )  # fmt: skip


@pytest.fixture(scope="module")
def ollama_proxy(upstream: ModelServer, start_peer: StartPeer) -> str:
    """Return the URL of a running ollama-proxy-plus; by itself it would listen to the network."""
    return start_peer(
        "ollama-proxy", "ollama-proxy", "--host", "127.0.0.1", "--port", "{port}",
        PROVIDERS_LOCAL_BASE_URL=upstream.url, PROVIDERS_LOCAL_API_KEY="x",
        EXTRA_MODELS="local/m,local/e",
    )  # fmt: skip


@pytest.fixture(params=["openai", "azure_openai", "ollama"])
def peer(request: pytest.FixtureRequest, upstream: ModelServer) -> Peer:
    """Return a peer for each provider in turn."""
    provider = request.param
    is_ollama = provider == "ollama"
    url = request.getfixturevalue("ollama_proxy" if is_ollama else "litellm")
    access = ModelAccess(
        provider=provider,
        name="local/m" if is_ollama else "m",
        api_key=None if is_ollama else SecretStr(MASTER_KEY),
        api_base=url,
    )
    upstream.heal()
    upstream.reply("chat", Reply(text="Ann runs Orion in Oslo.", prompt_tokens=7))
    embedding = replace(access, name="local/e" if is_ollama else "e")
    return Peer(upstream=upstream, chat=access, embedding=embedding)


def model_of(access: ModelAccess, what: str) -> Any:
    rows = {str(name): row for name, row in PROVIDER_TABLE.items()}
    return rows[access.provider].load(what)(access)


def ask(text: str = "hi", **more: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **more)


async def test_a_reply_comes_with_its_usage(peer: Peer) -> None:
    """Text and tokens of the server behind arrive through a server of others."""
    model = model_of(peer.chat, "chat")
    reply = await model.complete(ask(max_tokens=50))
    await model.close()

    assert reply.text == "Ann runs Orion in Oslo."
    assert reply.finish_reason == "stop"
    assert reply.usage.input_tokens > 0


async def test_a_stream_is_the_reply_in_pieces(peer: Peer) -> None:
    """The last piece has the whole."""
    model = model_of(peer.chat, "chat")
    deltas = [delta async for delta in model.stream(ask())]
    await model.close()

    assert "".join(delta.text for delta in deltas) == "Ann runs Orion in Oslo."
    assert deltas[-1].reply.text == "Ann runs Orion in Oslo."


async def test_a_tool_is_called(peer: Peer) -> None:
    """Name and arguments arrive."""
    if peer.chat.provider == "ollama":
        pytest.skip("ollama-proxy-plus hands no tool calls on through /api/chat")
    call = ToolCall(id="c1", name="look_up", arguments='{"city": "Oslo"}')
    peer.upstream.reply("chat", Reply(text=None, tool_calls=(call,)))
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = Tool(name="look_up", description="Looks up", parameters=schema)
    model = model_of(peer.chat, "chat")
    reply = await model.complete(ask(tools=(tool,)))
    await model.close()

    assert [made.name for made in reply.tool_calls] == ["look_up"]
    assert "Oslo" in reply.tool_calls[0].arguments


async def test_vectors_come_one_a_text(peer: Peer) -> None:
    """In order, of one width."""
    model = model_of(peer.embedding, "embedder")
    rows = await model.embed(["red apple", "green pear", "red apple"])
    await model.close()

    assert rows.shape == (3, 256)
    assert (rows[0] == rows[2]).all()
    assert not (rows[0] == rows[1]).all()


async def test_a_wrong_key_is_refused_and_not_repeated(peer: Peer) -> None:
    """Whatever status the peer finds for it (LiteLLM without a database says 400)."""
    if peer.chat.api_key is None:
        pytest.skip("this peer has no keys")
    model = model_of(replace(peer.chat, api_key=SecretStr("sk-wrong-CANARY")), "chat")
    with pytest.raises(ProviderError) as caught:
        await model.complete(ask())
    await model.close()

    assert caught.value.status in (400, 401)
    assert not caught.value.retryable
    assert "CANARY" not in str(caught.value)


async def test_an_unknown_model_is_an_error_that_names_it(peer: Peer) -> None:
    """Whatever status the peer finds for it."""
    model = model_of(replace(peer.chat, name="nobody/knows"), "chat")
    with pytest.raises(ProviderError, match="nobody/knows"):
        await model.complete(ask())
    await model.close()
