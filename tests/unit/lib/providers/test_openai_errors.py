"""Every way a server can fail, as an error of our tree."""

from __future__ import annotations

import base64
import dataclasses
import logging
import socket
import traceback
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from holodeck.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.lib.providers.openai_errors import wait_told_by
from holodeck.lib.providers.seam import Seam
from holodeck.testing import Fault, ModelServer

Ask = Callable[..., ChatRequest]

CANARY = "sk-test-CANARY-123"
PASSWORD = "CANARY-password"  # what must appear nowhere


async def _failure(access: ModelAccess, request: ChatRequest) -> ProviderError:
    model = OpenAIChat(access)
    with pytest.raises(ProviderError) as failure:
        await model.complete(request)
    await model.close()
    return failure.value


@pytest.mark.parametrize(
    ("fault", "kind", "status", "retryable"),
    [
        (Fault(status=400), ProviderError, 400, False),
        (Fault(status=401), AuthenticationError, 401, False),
        (Fault(status=403), AuthenticationError, 403, False),
        (Fault(status=404), ProviderError, 404, False),
        (Fault(status=408), ProviderError, 408, True),
        (Fault(status=409), ProviderError, 409, True),
        (Fault(status=429), RateLimitError, 429, True),
        (Fault(code="insufficient_quota"), RateLimitError, 429, False),
        (Fault(code="content_filter"), ContentFilterError, 400, False),
        (Fault(code="context_length_exceeded"), ContextLengthError, 400, False),
        (
            Fault(status=400, message="This model's maximum context length is 4096 tokens"),
            ContextLengthError,
            400,
            False,
        ),
        (Fault(status=500), ProviderError, 500, True),
        (Fault(status=502), ProviderError, 502, True),
        (Fault(status=503), ProviderError, 503, True),
        (Fault(cut_stream=True), ProviderError, None, True),
        (Fault(not_json=True), ProviderError, None, False),
    ],
)
async def test_each_failure_has_its_error(  # a table's columns
    model_server: ModelServer,
    access: ModelAccess,
    ask: Ask,
    fault: Fault,
    kind: type[ProviderError],
    status: int | None,
    retryable: bool,
) -> None:
    """The class, the status and whether a retry helps follow from the vendor's answer alone."""
    model_server.fault(fault)

    error = await _failure(access, ask())

    assert (type(error), error.status, error.retryable) == (kind, status, retryable)
    assert model_server.counts["chat"].calls == 1
    assert f"openai model 'm' at {model_server.url} (model)" in str(error)


async def test_a_wrong_key_names_its_settings(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """The variable and the YAML path of the key are in the message."""
    model_server.fault(Fault(status=401))

    error = await _failure(dataclasses.replace(access, where="tools[0].search_model"), ask())

    assert "set OPENAI_API_KEY or tools[0].search_model.api_key" in str(error)


async def test_a_timeout_names_its_setting_and_the_call(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """The time that was set is the time that is given, and the message says what to raise."""
    model_server.fault(Fault(hang=30))
    timed = dataclasses.replace(access, timeout=0.1, timeout_setting="execution.llm_timeout")

    error = await _failure(timed, ask(purpose="extract"))

    assert isinstance(error, ProviderTimeoutError)
    assert "'extract' within 0.1 s: raise execution.llm_timeout" in str(error)


async def test_a_long_enough_time_is_given(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A slow answer within the time is an answer."""
    model_server.fault(Fault(hang=0.3))
    model = OpenAIChat(dataclasses.replace(access, timeout=30))

    assert (await model.complete(ask())).text == "ok"
    await model.close()


async def test_a_stalled_stream_is_a_timeout(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A stream that does not begin within the time is one too."""
    model_server.fault(Fault(hang=30))
    model = OpenAIChat(dataclasses.replace(access, timeout=0.1))

    with pytest.raises(ProviderTimeoutError):
        _ = [delta async for delta in model.stream(ask())]
    await model.close()


async def test_a_timeout_of_embeddings_names_the_call(
    model_server: ModelServer, access: ModelAccess
) -> None:
    """Embedding calls have the same limit."""
    model_server.fault(Fault(hang=30))
    embedder = OpenAIEmbedder(dataclasses.replace(access, timeout=0.1))

    with pytest.raises(ProviderTimeoutError, match=r"'embed' within 0\.1 s"):
        await embedder.embed(["Ann"])
    await embedder.close()


async def test_nobody_listening_names_url_and_model(access: ModelAccess, ask: Ask) -> None:
    """A refused connection says where it went, and may be tried again."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"

        error = await _failure(dataclasses.replace(access, api_base=url), ask())

    assert f"openai model 'm' at {url} (model) cannot be reached" in str(error)
    assert error.retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "9", "retry-after-ms": "1500"}, 1.5),
        (
            {
                "date": "Wed, 02 Jan 2030 03:04:05 GMT",
                "retry-after": "Wed, 02 Jan 2030 03:04:25 GMT",
            },
            20.0,
        ),
        ({"retry-after": "Wed, 02 Jan 1980 03:04:05 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "inf", "retry-after": "2"}, 2.0),
    ],
)
def test_the_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    """Milliseconds, seconds and a moment by the server's own clock are understood."""
    assert wait_told_by(headers) == seconds


async def test_the_error_carries_the_wait(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """What the headers ask for reaches whoever retries."""
    model_server.fault(Fault(status=429, retry_after=datetime(1990, 1, 1, tzinfo=UTC)))

    assert (await _failure(access, ask())).retry_after == 0.0


@pytest.mark.parametrize(
    "fault",
    [Fault(status=401), Fault(status=400, message=f"bad key {CANARY} {PASSWORD}"), Fault(hang=30)],
)
@pytest.mark.parametrize("in_url", [False, True])
async def test_a_secret_appears_nowhere(  # fixtures
    model_server: ModelServer,
    access: ModelAccess,
    ask: Ask,
    caplog: pytest.LogCaptureFixture,
    fault: Fault,
    in_url: bool,
) -> None:
    """Neither key nor password is in a message, a repr, a traceback or any log, even echoed."""
    caplog.set_level(logging.DEBUG)
    model_server.fault(fault)
    url = model_server.url
    if in_url:
        url = url.replace("http://", f"http://user:{PASSWORD}@")
    secret = dataclasses.replace(
        access, api_key=SecretStr(CANARY), api_base=url, timeout=0.2, name="gpt-4o"
    )
    model, embedder = OpenAIChat(secret), OpenAIEmbedder(secret)

    said = [repr(secret), repr(model), repr(embedder), repr(vars(model)), repr(vars(embedder))]
    for work in (model.complete(ask()), embedder.embed(["Ann"])):
        with pytest.raises(ProviderError) as failure:
            await work
        said += [repr(failure.value), "".join(traceback.format_exception(failure.value))]
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
    await model.close()
    await embedder.close()

    said += [caplog.text, *(repr(vars(record)) for record in caplog.records)]
    assert caplog.records, "the client logs at DEBUG"
    encoded = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    for hidden in (CANARY, PASSWORD, encoded) if in_url else (CANARY,):
        assert hidden not in "\n".join(said)


async def test_a_password_in_the_url_is_sent_as_basic(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """``user:password@`` reaches the server as Basic authorization, in place of the key."""
    url = model_server.url.replace("http://", "http://user:p%40ss@")
    model = OpenAIChat(dataclasses.replace(access, api_base=url))

    await model.complete(ask())

    assert model_server.requests[0].headers["authorization"] == "Basic dXNlcjpwQHNz"
    await model.close()


@pytest.mark.parametrize("key", [f"{CANARY}\nx", f"{CANARY}é"])
async def test_a_key_that_cannot_be_sent_is_not_quoted(
    access: ModelAccess, ask: Ask, key: str
) -> None:
    """The client quotes a header that it refuses; the message names the setting instead."""
    error = await _failure(dataclasses.replace(access, api_key=SecretStr(key)), ask())

    assert "model.api_key or a text holds characters" in str(error)
    assert CANARY not in str(error)
    assert not error.retryable


async def test_a_text_that_cannot_be_sent_is_final(access: ModelAccess, ask: Ask) -> None:
    """Half a character (a lone surrogate) is the request's fault, and no retry helps."""
    error = await _failure(access, ask("half \ud800"))

    assert "characters that cannot be sent" in str(error)
    assert not error.retryable


async def test_a_keys_line_end_is_not_sent(
    model_server: ModelServer, access: ModelAccess, ask: Ask
) -> None:
    """A key read from a file works with the line end after it."""
    model = OpenAIChat(dataclasses.replace(access, api_key=SecretStr("sk-test\n")))

    await model.complete(ask())

    assert model_server.requests[0].headers["authorization"] == "Bearer sk-test"
    await model.close()


def test_a_short_secret_is_masked_where_it_stands_alone() -> None:
    """A server of one's own takes any key: ``k`` must not spoil every word that holds it."""
    access = ModelAccess(provider="openai", name="any", api_base="http://localhost")
    seam = Seam(access=access, url="http://localhost", secrets=("k", "a-long-secret"))
    assert seam.clean("token k (xa-long-secretx) is wrong: check it") == (
        "token *** (x***x) is wrong: check it"
    )
