"""The rules of the provider contract about what goes wrong."""

from __future__ import annotations

import asyncio
import logging
import traceback
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from holodeck.errors import (
    AuthenticationError,
    ConfigError,
    ContentFilterError,
    ContextLengthError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.retry import RetryPolicy
from holodeck.lib.providers.wrappers import wrap_chat, wrap_embedder
from holodeck.lib.resources import Resources
from holodeck.models.llm import ModelSettings
from holodeck.testing.faults import Fault
from holodeck.testing.provider_base import KEY, ProviderContractBase, ask
from holodeck.testing.server import ModelServer

__all__ = ["ProviderFailureContract"]

_QUOTA = "insufficient_quota"


class ProviderFailureContract(ProviderContractBase):
    """Each failure has its error; waits, times and keys are kept."""

    async def failure(
        self, access: ModelAccess, request: ChatRequest | None = None
    ) -> ProviderError:
        """Return what one request to the bare model fails with."""
        with pytest.raises(ProviderError) as caught:
            await self.answer(access, request or ask())
        return caught.value

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
            (Fault(code=_QUOTA), RateLimitError, 429, False),
            (Fault(code="content_filter"), ContentFilterError, 400, False),
            (Fault(status=500), ProviderError, 500, True),
            (Fault(status=502), ProviderError, 502, True),
            (Fault(status=503), ProviderError, 503, True),
            (Fault(cut_stream=True), ProviderError, None, True),
            (Fault(not_json=True), ProviderError, None, False),
        ],
        ids=lambda value: (value.code or str(value.status)) if isinstance(value, Fault) else "",
    )
    async def test_each_failure_has_its_error(  # a table's columns
        self,
        server: ModelServer,
        access: ModelAccess,
        fault: Fault,
        kind: type[ProviderError],
        status: int | None,
        retryable: bool,
    ) -> None:
        """Class, status and whether a retry helps follow from the answer; one call is made."""
        if fault.code in (_QUOTA, "content_filter"):
            self.needs("has_quota")
        server.fault(replace(fault, kind="chat"))

        error = await self.failure(access)

        assert (type(error), error.status, error.retryable) == (kind, status, retryable)
        assert server.counts["chat"].calls == 1
        assert f"{self.provider} model 'm' at http://127.0.0.1:" in str(error)
        assert "tools[0].graphrag.search_model" in str(error)

    async def test_a_request_that_is_too_long_is_told_as_such(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """The vendor's words for it become one error, which no retry mends."""
        server.fault(Fault(kind="chat", code="context_length_exceeded"))

        error = await self.failure(access)

        assert (type(error), error.retryable) == (ContextLengthError, False)
        assert "use smaller chunks" in str(error)

    async def test_a_time_that_is_too_short_names_its_setting(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """The time of the settings is the time that is given, for chat and for vectors."""
        server.fault(Fault(hang=30))
        timed = replace(access, timeout=0.2)

        error = await self.failure(timed, ask(purpose="extract"))
        async with self.embedder(timed) as model:
            with pytest.raises(ProviderTimeoutError) as caught:
                await model.embed(["a"])

        assert isinstance(error, ProviderTimeoutError)
        assert "'extract' within 0.2 s: raise execution.llm_timeout" in str(error)
        assert "'embed' within 0.2 s: raise execution.llm_timeout" in str(caught.value)

    async def test_a_long_enough_time_is_given(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """A slow answer within the time is an answer."""
        server.fault(Fault(kind="chat", hang=0.4))

        assert (await self.answer(access, ask(), timeout=30)).text == "ok"

    async def test_nobody_listening_names_url_and_model(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """A server that is not there may be there later; the setting to check is named."""
        server.close()

        error = await self.failure(access)

        assert error.retryable
        assert "model 'm' at http://127.0.0.1:" in str(error)
        assert "tools[0].graphrag.search_model.api_base" in str(error)

    @pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
    async def test_the_servers_wait_is_kept(
        self, server: ModelServer, access: ModelAccess, form: str
    ) -> None:
        """Three limits with a hint, then the answer: each wait is at least as long as was told."""
        hints = {
            "seconds": Fault(retry_after=2),
            "date": Fault(retry_after=datetime.now(UTC) + timedelta(seconds=10)),
            "milliseconds": Fault(retry_after_ms=2000),
        }
        server.fault(replace(hints[form], kind="chat", status=429, first=3))
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        policy = RetryPolicy(max_retries=5, budget=120, sleep=sleep)
        model = wrap_chat(self.row.load("chat")(access), access, policy=policy)
        reply = await model.complete(ask())
        await model.close()

        assert reply.text == "ok"
        assert len(waits) == 3
        assert min(waits) >= 2

    async def test_no_retries_are_one_call(self, server: ModelServer, access: ModelAccess) -> None:
        """``max_retries: 0`` means that nothing is tried again, neither chat nor vectors."""
        server.fault(Fault(status=503))
        single = replace(access, max_retries=0)
        chat = wrap_chat(self.row.load("chat")(single), single)
        embedder = wrap_embedder(self.row.load("embedder")(single), single)

        with pytest.raises(ProviderError):
            await chat.complete(ask())
        asked = len(server.requests)
        with pytest.raises(ProviderError):
            await embedder.embed(["a"])
        await chat.close()
        await embedder.close()

        assert (asked, len(server.requests)) == (1, 2)

    async def test_no_more_calls_than_allowed_are_in_flight(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """``concurrency`` is the number of calls that the server sees at once."""
        few = replace(access, concurrency=3)
        model = wrap_chat(self.row.load("chat")(few), few)
        server.fault(Fault(kind="chat", hang=0.05))
        await asyncio.gather(*(model.complete(ask(str(number))) for number in range(9)))
        await model.close()

        assert server.counts["chat"].in_flight_max == 3

    async def test_the_key_is_in_nothing_that_is_said(
        self, server: ModelServer, access: ModelAccess, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A server that echoes key or password is quoted without them, also in a traceback."""
        key, password = KEY, "pass-CANARY"
        secret = ModelSettings(
            provider=self.provider,
            api_key=key if self.needs_key else None,
            api_base=self.api_base(server).replace("://", f"://user:{password}@"),
        )
        server.fault(Fault(status=401, message=f"what is {key} or {password}?"))
        resources = Resources(environ={})

        with caplog.at_level(logging.DEBUG):
            model = resources.chat(secret, "model")
            with pytest.raises(AuthenticationError) as caught:
                await model.complete(ask())
            told = "".join(traceback.format_exception(caught.value))
            said = f"{told} {caught.value!r} {model!r} {resources.access(secret, 'model')!r}"
            await resources.close()

        for word in (*((key,) if self.needs_key else ()), password):
            assert word not in said + caplog.text

    def test_without_a_key_nothing_is_made(self) -> None:
        """Unset, blank and unreplaced keys are told by variable and path before any client."""
        self.needs("needs_key")
        variable = self.row.key_variable
        assert variable is not None
        for value in ("", "  ", "${" + variable + "}"):
            resources = Resources(environ={variable: value})
            settings = ModelSettings(provider=self.provider, api_base="http://127.0.0.1:9")
            with pytest.raises(ConfigError, match=variable) as caught:
                resources.chat(settings, "model")
            assert caught.value.field == "model.api_key"
