"""The rules of the provider contract about time: limits, waits, tries, turns and counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from holodeck.errors import ProviderError, ProviderTimeoutError, RateLimitError
from holodeck.lib.contracts import ChatModel, Embedder
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.retry import RetryPolicy
from holodeck.lib.providers.wrappers import wrap_chat, wrap_embedder
from holodeck.lib.resources import Resources
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings
from holodeck.testing.faults import Fault
from holodeck.testing.provider_base import KEY, ProviderContractBase, ask
from holodeck.testing.server import ModelServer

__all__ = ["ProviderWaitContract"]

_PASSING = {
    "408": Fault(status=408),
    "409": Fault(status=409),
    "429": Fault(status=429),
    "500": Fault(status=500),
    "502": Fault(status=502),
    "503": Fault(status=503),
    "529": Fault(status=529),
    "connection lost": Fault(cut_stream=True),
}


@dataclass(frozen=True, kw_only=True)
class _Stack:
    """Both models with all that stands around them, and the waits that they would have made."""

    chat: ChatModel
    embedder: Embedder
    waits: list[float]


class ProviderWaitContract(ProviderContractBase):
    """What ``execution:`` says of time reaches the server, for chat, streams and vectors alike."""

    @asynccontextmanager
    async def stack(self, access: ModelAccess, *, budget: float = 120.0) -> AsyncIterator[_Stack]:
        """Open the models of ``access``, wrapped; a wait is noted in place of waiting."""
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        policy = RetryPolicy(max_retries=access.max_retries, budget=budget, sleep=sleep)
        chat = wrap_chat(self.row.load("chat")(access), access, policy=policy)
        embedder = wrap_embedder(self.row.load("embedder")(access), access, policy=policy)
        try:
            yield _Stack(chat=chat, embedder=embedder, waits=waits)
        finally:
            await chat.close()
            await embedder.close()

    def settings(self, server: ModelServer) -> ModelSettings:
        """Return what YAML would say of the server's model ``m``."""
        return ModelSettings(
            provider=self.provider,
            name="m",
            api_base=self.api_base(server),
            api_key=SecretStr(KEY) if self.needs_key else None,
        )

    @asynccontextmanager
    async def live(self, server: ModelServer, execution: ExecutionConfig) -> AsyncIterator[_Stack]:
        """Open the models that the settings of YAML lead to."""
        resources = Resources(execution, environ={})
        settings = self.settings(server)
        try:
            yield _Stack(
                chat=resources.chat(settings, "model"),
                embedder=resources.embedder(settings, "embedding_model"),
                waits=[],
            )
        finally:
            await resources.close()

    # --- time -------------------------------------------------------------------------------------

    async def test_the_time_of_the_settings_is_the_time_that_is_given(
        self, server: ModelServer
    ) -> None:
        """``execution.llm_timeout`` ends a silent call, and the message names it and the call."""
        server.fault(Fault(hang=30))
        said: list[str] = []
        async with self.live(server, ExecutionConfig(llm_timeout=0.2)) as models:
            calls = (
                models.chat.complete(ask(purpose="extract")),
                _all_of(models.chat, "report"),
                models.embedder.embed(["a"]),
            )
            for call in calls:
                with pytest.raises(ProviderTimeoutError) as caught:
                    await call
                said.append(str(caught.value))

        for purpose, message in zip(("extract", "report", "embed"), said, strict=True):
            assert f"'{purpose}' within 0.2 s: raise execution.llm_timeout" in message

    async def test_a_long_enough_time_is_given(self, server: ModelServer) -> None:
        """A slow answer within the time is an answer."""
        server.fault(Fault(hang=0.4))
        async with self.live(server, ExecutionConfig(llm_timeout=30)) as models:
            assert (await models.chat.complete(ask())).text == "ok"
            assert len(await models.embedder.embed(["a"])) == 1

    # --- tries ------------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", _PASSING)
    async def test_what_may_pass_is_tried_again(
        self, server: ModelServer, access: ModelAccess, name: str
    ) -> None:
        """One failure, then the answer: for a reply, a stream that has not begun, and vectors."""
        async with self.stack(access) as models:
            await models.chat.complete(ask())  # what is asked once about the model is asked
            calls = []
            for kind in ("chat", "stream", "embedding"):
                server.reset_counts()
                server.heal()
                lost_stream = kind == "stream" and _PASSING[name].cut_stream
                fault = Fault(status=503) if lost_stream else _PASSING[name]
                about = "embedding" if kind == "embedding" else "chat"
                server.fault(replace(fault, kind=about, first=1))
                if kind == "chat":
                    assert (await models.chat.complete(ask())).text == "ok"
                elif kind == "stream":
                    assert await _all_of(models.chat) == "ok"
                else:
                    assert len(await models.embedder.embed(["a"])) == 1
                calls.append(server.counts[about].calls)

        assert calls == [2, 2, 2]
        assert len(models.waits) == 3

    @pytest.mark.parametrize("status", [429, 503])
    @pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
    async def test_the_servers_wait_is_kept(
        self, server: ModelServer, access: ModelAccess, form: str, status: int
    ) -> None:
        """Three failures with a hint, then the answer: each wait is at least as long as told."""
        hints = {
            "seconds": Fault(retry_after=2),
            "date": Fault(retry_after=datetime.now(UTC) + timedelta(seconds=30)),
            "milliseconds": Fault(retry_after_ms=2000),
        }
        for kind in ("chat", "embedding"):
            server.fault(replace(hints[form], kind=kind, status=status, first=3))
        async with self.stack(access) as models:
            assert (await models.chat.complete(ask())).text == "ok"
            assert len(await models.embedder.embed(["a"])) == 1

        assert len(models.waits) == 6
        assert min(models.waits) >= 2

    async def test_a_limit_for_ever_ends_within_the_budget(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """No wait is begun that would exceed it; the error names the limit and the setting."""
        server.fault(Fault(kind="chat", status=429, retry_after=2))
        async with self.stack(replace(access, max_retries=100), budget=9) as models:
            with pytest.raises(RateLimitError, match=r"rate limited.*execution\.retry_budget"):
                await models.chat.complete(ask())

        assert 2 <= sum(models.waits) <= 9
        assert server.counts["chat"].calls == len(models.waits) + 1

    async def test_no_retries_are_one_call(self, server: ModelServer) -> None:
        """``max_retries: 0`` means that nothing is tried again: reply, stream or vectors."""
        server.fault(Fault(status=503))
        made: list[int] = []
        async with self.live(server, ExecutionConfig(max_retries=0)) as models:
            calls = (
                models.chat.complete(ask()),
                _all_of(models.chat),
                models.embedder.embed(["a"]),
            )
            for call in calls:
                server.reset_counts()
                with pytest.raises(ProviderError):
                    await call
                made.append(len(server.requests))

        assert made == [1, 1, 1]

    # --- turns and counts -------------------------------------------------------------------------

    async def test_no_more_calls_than_allowed_are_in_flight(self, server: ModelServer) -> None:
        """``execution.concurrency`` is what the server sees at once: replies, streams, vectors."""
        most: list[int] = []
        async with self.live(server, ExecutionConfig(concurrency=3)) as models:
            await models.chat.complete(ask())  # what is asked once about the model is asked
            await models.embedder.embed(["a"])
            for kind in ("chat", "stream", "embedding"):
                server.reset_counts()
                server.pause()
                calls = [asyncio.ensure_future(_call(models, kind, f"{n}")) for n in range(9)]
                about = "embedding" if kind == "embedding" else "chat"
                await asyncio.to_thread(server.wait_for, 3, about)
                server.resume()
                await asyncio.gather(*calls)
                most.append(server.counts[about].in_flight_max)

        assert most == [3, 3, 3]

    async def test_tokens_are_counted_by_purpose(self, server: ModelServer) -> None:
        """A reply and a stream count as the server says, once, however often they were tried."""
        resources = Resources(ExecutionConfig(), environ={})
        settings = self.settings(server)
        server.fault(Fault(kind="chat", status=503, first=1, retry_after_ms=1))
        chat = resources.chat(settings, "model")
        first = await chat.complete(ask("Who runs Orion?", purpose="extract"))
        await _all_of(chat, "report")
        await resources.embedder(settings, "embedding_model").embed(["Ann", "Bob"])
        await resources.close()

        counted = resources.meter.usage()
        assert {purpose: spent.calls for purpose, spent in counted.items()} == {
            "extract": 1,
            "report": 1,
            "embed": 1,
        }
        assert counted["extract"].usage == first.usage
        assert counted["report"].usage.input_tokens > 0
        assert counted["report"].usage.output_tokens > 0
        assert {row.provider for row in resources.meter.rows()} == {self.provider}


async def _all_of(chat: ChatModel, purpose: str = "chat") -> str:
    return "".join([delta.text async for delta in chat.stream(ask(purpose=purpose))])


async def _call(models: _Stack, kind: str, text: str) -> object:
    if kind == "embedding":
        return await models.embedder.embed([text])
    return await (_all_of(models.chat) if kind == "stream" else models.chat.complete(ask(text)))
