"""What is Ollama's own: addresses, the size of the context, models that must be pulled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import httpx
import pytest

from holodeck.errors import ContextLengthError, ProviderError
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.ollama import OllamaChat, OllamaEmbedder
from holodeck.lib.providers.ollama_client import OllamaClient
from holodeck.lib.providers.ollama_context import SMALLEST_CONTEXT
from holodeck.lib.resources import Resources
from holodeck.models.llm import ModelSettings
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest

Ask = Callable[..., ChatRequest]

LONG = "The ship Orion sailed from Oslo to the Bay of Whales in 1911. " * 600
"""About 10,000 tokens: more than the smallest context and the default of a server."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Return a server of its own port, so that no other test has grown its context."""
    with ModelServer() as running:
        yield running


def access_to(server: ModelServer, **changes: object) -> ModelAccess:
    made = ModelAccess(provider="ollama", name="llama3.1", api_base=server.root)
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]  # fields of ModelAccess


def sizes(server: ModelServer) -> list[int]:
    return [one.body["options"]["num_ctx"] for one in server.requests if one.is_chat]


# --- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "url"),
    [
        (None, "http://localhost:11434"),
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("127.0.0.1:", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":8000", "http://127.0.0.1:8000"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("box", "http://box:11434"),
        ("http://box", "http://box"),
        ("https://box.example/ollama/", "https://box.example/ollama"),
        ("http://box:11434/v1/", "http://box:11434"),
        ("http://box:11434/api/chat", "http://box:11434"),
    ],
)
def test_an_address_is_read_as_ollamas_own_tools_read_it(given: str | None, url: str) -> None:
    """Without a scheme the port is 11434; a server's listening address is this machine."""
    access = ModelAccess(provider="ollama", name="m", api_base=given)

    assert OllamaClient(access).endpoint.url == url


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "/api", "/api/"])
async def test_every_spelling_of_the_url_works(server: ModelServer, ask: Ask, suffix: str) -> None:
    """With and without a slash, and with the path of another API behind it."""
    access = access_to(server, api_base=f"{server.root}{suffix}")
    chat, embedder = OllamaChat(access), OllamaEmbedder(access)

    assert (await chat.complete(ask())).text == "ok"
    assert len(await embedder.embed(["a"])) == 1
    await chat.close()
    await embedder.close()


async def test_the_host_variable_is_used_without_a_scheme(server: ModelServer, ask: Ask) -> None:
    """``OLLAMA_HOST=127.0.0.1:PORT`` is enough, and no key is asked for."""
    host = server.root.removeprefix("http://")
    resources = Resources(environ={"OLLAMA_HOST": host})
    settings = ModelSettings(provider="ollama", name="llama3.1")

    resources.check(settings, "model")
    reply = await resources.chat(settings, "model").complete(ask())
    await resources.close()

    assert reply.text == "ok"
    assert "authorization" not in server.requests[-1].headers


async def test_a_key_for_a_proxy_in_front_is_sent(ask: Ask) -> None:
    """Ollama has no keys; whoever puts a gateway before it gives one by ``api_key``."""
    settings = ModelSettings(provider="ollama", name="m", api_key="gate")
    with ModelServer(api_key="gate") as server:
        resources = Resources(environ={"OLLAMA_HOST": server.root})
        reply = await resources.chat(settings, "model").complete(ask())
        await resources.close()

    assert reply.text == "ok"


# --- the model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("class_", [OllamaChat, OllamaEmbedder])
async def test_a_model_that_was_not_pulled_says_how(
    ask: Ask, class_: type[OllamaChat | OllamaEmbedder]
) -> None:
    """The message holds the command that mends it."""
    with ModelServer(models=["another"]) as server:
        model = class_(access_to(server))
        with pytest.raises(ProviderError, match=r"run 'ollama pull llama3\.1'") as caught:
            if isinstance(model, OllamaChat):
                await model.complete(ask())
            else:
                await model.embed(["a"])
        await model.close()

    assert (caught.value.status, caught.value.retryable) == (404, False)


async def test_a_server_that_does_not_run_says_how(server: ModelServer, ask: Ask) -> None:
    """The message holds the URL, the command that starts it and the variable."""
    root = server.root
    model = OllamaChat(access_to(server))
    server.close()
    with pytest.raises(ProviderError, match="ollama serve") as caught:
        await model.complete(ask())
    await model.close()

    assert root in str(caught.value)
    assert "OLLAMA_HOST" in str(caught.value)


# --- the context --------------------------------------------------------------------------------


async def test_no_prompt_is_ever_cut(server: ModelServer, ask: Ask) -> None:
    """The context covers prompt and answer: what stands at the beginning reaches the model."""
    server.reply("chat", lambda request: "whole" if "FIRST" in request.text else "cut")
    model = OllamaChat(access_to(server))
    replies = [
        await model.complete(ask(text, max_tokens=500))
        for text in ("FIRST short", f"FIRST {LONG}", f"FIRST {LONG}{LONG}")
    ]
    await model.close()

    assert [reply.text for reply in replies] == ["whole"] * 3
    assert server.cuts == []


async def test_the_server_would_cut_without_a_size(server: ModelServer) -> None:
    """The same prompt without ``num_ctx`` loses its beginning, and nobody says so."""
    server.reply("chat", lambda request: "whole" if "FIRST" in request.text else "cut")
    message = {"role": "user", "content": f"FIRST {LONG}"}
    body = {"model": "m", "messages": [message], "stream": False}
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{server.root}/api/chat", json=body)

    assert (answer.status_code, answer.json()["message"]["content"]) == (200, "cut")
    assert len(server.cuts) == 1


async def test_the_size_only_grows_and_is_shared(server: ModelServer, ask: Ask) -> None:
    """A model is not loaded back and forth: short calls keep the size that a long one needed."""
    first, second = OllamaChat(access_to(server)), OllamaChat(access_to(server, timeout=50))
    await first.complete(ask("short"))
    await first.complete(ask(LONG))
    await first.complete(ask("short"))
    await second.complete(ask("short"))
    await first.close()
    await second.close()

    small, *grown = sizes(server)
    assert small == SMALLEST_CONTEXT
    assert grown == [16384] * 3


async def test_a_size_that_is_expected_is_asked_for_from_the_first_call(
    server: ModelServer, ask: Ask
) -> None:
    """One size for a whole run: the model is never loaded a second time."""
    model = OllamaChat(access_to(server))
    model.expect(9_000, 1_000)
    for text in ("short", LONG, "short"):
        await model.complete(ask(text))
    await model.close()

    assert sizes(server) == [16384] * 3


async def test_no_more_is_expected_than_the_setting_and_the_model_give(ask: Ask) -> None:
    """``context_size`` stays the size, and a small model is not asked for more than it takes."""
    with ModelServer(context_length=10_000) as small:
        fixed = OllamaChat(access_to(small, name="fixed", context_size=3000))
        free = OllamaChat(access_to(small, name="free"))
        for model in (fixed, free):
            model.expect(50_000)
            await model.complete(ask())
            await model.close()

        assert sizes(small) == [3000, 10_000]


async def test_a_longer_answer_needs_a_larger_context(server: ModelServer, ask: Ask) -> None:
    """``max_tokens`` is sent as ``num_predict`` and has its room."""
    model = OllamaChat(access_to(server))
    await model.complete(ask("short", max_tokens=9000))
    await model.close()

    assert server.requests[-1].body["options"]["num_predict"] == 9000
    assert sizes(server) == [16384]


async def test_the_setting_is_the_size(server: ModelServer, ask: Ask) -> None:
    """``context_size`` is sent as it is written; a call that cannot fit is refused unsent."""
    model = OllamaChat(access_to(server, context_size=3000, where="graphrag.search_model"))
    await model.complete(ask("short"))
    with pytest.raises(ContextLengthError, match=r"graphrag\.search_model\.context_size is 3000"):
        await model.complete(ask(LONG))
    await model.close()

    assert sizes(server) == [3000]


async def test_what_the_model_cannot_take_is_refused_unsent(ask: Ask) -> None:
    """The server says how much the model takes; no larger context is asked for."""
    with ModelServer(context_length=4096) as server:
        model = OllamaChat(access_to(server))
        await model.complete(ask("short"))
        with pytest.raises(ContextLengthError, match="the model takes 4096"):
            await model.complete(ask(LONG))
        await model.close()

        assert sizes(server) == [4096]


async def test_a_prompt_that_was_cut_is_asked_again_with_more_room(
    server: ModelServer, ask: Ask
) -> None:
    """Where the model's vocabulary needs far more tokens than ours, the filled context shows it."""

    def answer(request: ServerRequest) -> Reply:
        size = request.body["options"]["num_ctx"]
        return Reply(text="whole" if size > 20_000 else "cut", prompt_tokens=min(size, 20_000))

    server.reply("chat", answer)
    model = OllamaChat(access_to(server))
    reply = await model.complete(ask("FIRST"))
    await model.close()

    assert reply.text == "whole"
    assert sizes(server) == [8192, 16384, 32768]


async def test_a_prompt_that_was_refused_is_asked_again_with_more_room(
    server: ModelServer, ask: Ask
) -> None:
    """Newer servers refuse what they would cut; a server that always refuses is believed."""
    server.fault(Fault(kind="chat", code="context_length_exceeded", first=4))
    model = OllamaChat(access_to(server))
    with pytest.raises(ContextLengthError):
        await model.complete(ask())
    reply = await model.complete(ask())
    await model.close()

    assert reply.text == "ok"
    assert all(one.body["truncate"] is False for one in server.requests if one.is_chat)
    assert sizes(server) == [8192, 16384, 32768, 32768, 65536]


async def test_a_stream_that_was_cut_is_an_error(server: ModelServer, ask: Ask) -> None:
    """An answer made from half a prompt is not handed out as one."""
    server.reply("chat", lambda request: "half")
    model = OllamaChat(access_to(server, context_size=600))
    with pytest.raises(ContextLengthError, match="cut the prompt"):
        # Ours counts 9 tokens a line, the server a tenth more.
        [piece async for piece in model.stream(ask("red green blue " * 187, max_tokens=10))]
    await model.close()

    assert len(server.cuts) == 1


async def test_a_server_that_does_not_say_how_much_it_takes_is_used_all_the_same(
    ask: Ask,
) -> None:
    """An older server or a proxy has no such address; the context is then what the call needs."""
    with ModelServer(context_length=None) as server:
        model = OllamaChat(access_to(server))
        await model.complete(ask(LONG))
        await model.complete(ask(LONG))
        await model.close()

        assert sizes(server) == [16384, 16384]
        assert server.counts["models"].calls == 1


async def test_a_text_longer_than_an_embedding_model_takes_is_embedded_in_parts() -> None:
    """Its end counts too: the vector is the mean of those of its parts, which all fit."""
    with ModelServer(context_length=512) as server:
        server.reply("embedding", _has_end)
        model = OllamaEmbedder(access_to(server))
        rows = await model.embed(["short", LONG + "THE END"])
        await model.close()

    (request,) = [one for one in server.requests if one.is_embedding]
    assert request.body["truncate"] is False
    assert request.body["options"] == {"num_ctx": 512}
    assert len(request.texts) > 20
    assert rows.shape == (2, 2)
    assert rows[0][1] == 0
    assert rows[1][1] > 0
    assert round(float(rows[1] @ rows[1]), 4) == 1.0


def _has_end(request: ServerRequest) -> list[list[float]]:
    return [[1.0, 1.0 if "THE END" in text else 0.0] for text in request.texts]
