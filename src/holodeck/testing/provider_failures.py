"""The rules of the provider contract about what goes wrong."""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace

import pytest

from holodeck.errors import (
    AuthenticationError,
    ConfigError,
    ContentFilterError,
    ContextLengthError,
    ProviderError,
    RateLimitError,
)
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.resources import Resources
from holodeck.models.llm import ModelSettings
from holodeck.testing.faults import Fault
from holodeck.testing.provider_base import KEY, ask
from holodeck.testing.provider_waits import ProviderWaitContract
from holodeck.testing.server import ModelServer

__all__ = ["ProviderFailureContract"]

_QUOTA = "insufficient_quota"


class ProviderFailureContract(ProviderWaitContract):
    """Each failure has its error, and no key is in it."""

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

    async def test_nobody_listening_names_url_and_model(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """A server that is not there may be there later; the setting to check is named."""
        server.close()

        error = await self.failure(access)

        assert error.retryable
        assert "model 'm' at http://127.0.0.1:" in str(error)
        assert "tools[0].graphrag.search_model.api_base" in str(error)

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
            embedder = resources.embedder(secret, "embedding_model")
            said = f"{model!r} {embedder!r} {resources.reach.access(secret, 'model')!r}"
            for call in (model.complete(ask()), embedder.embed(["a"])):
                with pytest.raises(AuthenticationError) as caught:
                    await call
                said += "".join(traceback.format_exception(caught.value)) + repr(caught.value)
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
