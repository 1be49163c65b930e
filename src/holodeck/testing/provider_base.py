"""What the rules of the provider contract stand on: the factory, the flags, a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr

from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest, Embedder, Message
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow
from holodeck.lib.providers.access import ModelAccess
from holodeck.models.llm import ProviderName
from holodeck.testing.server import ModelServer

__all__ = ["KEY", "ProviderContractBase", "ask"]

KEY = "sk-contract-CANARY"


def ask(text: str = "hi", **more: Any) -> ChatRequest:
    """Return a request of one user message."""
    return ChatRequest(messages=(Message(role="user", content=text),), **more)


class ProviderContractBase:
    """The factory, the flags and the fixtures."""

    provider: ClassVar[ProviderName]
    """The row of ``PROVIDER_TABLE`` that is under test."""

    needs_key: ClassVar[bool] = True
    """Whether the server may be locked by a key from the provider's variable."""

    calls_tools: ClassVar[bool] = True
    """Whether the model may call functions."""

    has_json_mode: ClassVar[bool] = True
    """Whether a reply can be asked for as a JSON object."""

    has_quota: ClassVar[bool] = True
    """Whether the vendor has accounts that can be used up, and filters what it is asked."""

    @classmethod
    def api_base(cls, server: ModelServer) -> str:
        """Return what a user would write as ``api_base`` to reach the server."""
        return server.root

    @classmethod
    def asks_for_json(cls, body: dict[str, Any]) -> bool:
        """Tell whether the body of a chat request asks for a JSON object."""
        raise NotImplementedError("a subclass of ProviderContract looks at its own wire here")

    @classmethod
    def needs(cls, flag: str) -> None:
        """Skip the test where the provider lacks a capability."""
        if not getattr(cls, flag):
            pytest.skip(f"{flag} is False for this provider")

    @pytest.fixture
    def server(self) -> Iterator[ModelServer]:
        """A healthy server, locked by the key where the provider needs one."""
        with ModelServer(api_key=KEY if self.needs_key else None) as running:
            yield running

    @pytest.fixture
    def access(self, server: ModelServer) -> ModelAccess:
        """Access to the server's model ``m``."""
        return ModelAccess(
            provider=self.provider,
            name="m",
            api_key=SecretStr(KEY) if self.needs_key else None,
            api_base=self.api_base(server),
            where="tools[0].graphrag.search_model",
        )

    @property
    def row(self) -> ProviderRow:
        """The provider's row."""
        return PROVIDER_TABLE[self.provider]

    @asynccontextmanager
    async def chat(self, access: ModelAccess, **changes: Any) -> AsyncIterator[ChatModel]:
        """Open the bare chat model, and close it."""
        model: ChatModel = self.row.load("chat")(replace(access, **changes))
        try:
            yield model
        finally:
            await model.close()

    @asynccontextmanager
    async def embedder(self, access: ModelAccess, **changes: Any) -> AsyncIterator[Embedder]:
        """Open the bare embedder, and close it."""
        model: Embedder = self.row.load("embedder")(replace(access, **changes))
        try:
            yield model
        finally:
            await model.close()

    async def answer(self, access: ModelAccess, request: ChatRequest, **changes: Any) -> ChatReply:
        """Ask a chat model that is opened for this one request."""
        async with self.chat(access, **changes) as model:
            return await model.complete(request)
