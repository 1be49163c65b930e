"""The client of one model: opened on the private loop, used from any."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import ClassVar, Generic, TypeVar
from urllib.parse import quote

from holodeck.errors import ProviderError
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.endpoint import Endpoint
from holodeck.lib.providers.loop import PerLoop, iterate_on_private_loop, run_on_private_loop
from holodeck.lib.providers.seam import Seam

__all__ = ["CONNECT_SECONDS", "ModelClient"]

T = TypeVar("T")
Client = TypeVar("Client")

CONNECT_SECONDS = 10.0
"""Connecting takes no longer than this, however long a call may take."""


class ModelClient(ABC, Generic[Client]):
    """Holds the connections to one server and maps its errors; makes one try a call."""

    seam_class: ClassVar[type[Seam]]
    errors: ClassVar[tuple[type[Exception], ...]]
    """What a call of the client may raise."""

    def __init__(self, access: ModelAccess) -> None:
        self.access = access
        self.endpoint = self.find_endpoint(access)
        self.seam = self.seam_class(access=access, url=self.endpoint.url, secrets=self._secrets())
        self._open = PerLoop(self.open_client)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.endpoint.url})"

    @staticmethod
    @abstractmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return where calls go."""

    @abstractmethod
    def open_client(self) -> Client:
        """Return a new client; retries are ours, so it makes none."""

    @staticmethod
    @abstractmethod
    async def close_client(client: Client) -> None:
        """Close the connections of a client."""

    @property
    def key(self) -> str | None:
        """The API key; the line end that a key from a file often has is not part of it."""
        key = self.access.api_key
        return None if key is None else key.get_secret_value().strip()

    def _secrets(self) -> tuple[str, ...]:
        found = (
            self.key,
            self.endpoint.password,
            quote(self.endpoint.password or "", safe=""),  # as the URL spells it
            (self.endpoint.authorization or "").removeprefix("Basic "),
        )
        return tuple(secret for secret in found if secret)

    async def call(self, purpose: str, work: Callable[[Client], Awaitable[T]]) -> T:
        """Return what ``work`` makes of the client, within the time for one call.

        Raises:
            ProviderError: What the seam makes of the client's error.
        """
        return await run_on_private_loop(self._call(purpose, work))

    async def _call(self, purpose: str, work: Callable[[Client], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.access.timeout):
                return await work(self._open.get())
        except self.errors as error:
            failure = self._as_ours(error, purpose)
        raise failure  # outside of the handler: no context that holds the key

    def iterate(
        self, purpose: str, items: Callable[[Client], AsyncGenerator[T, None]]
    ) -> AsyncGenerator[T, None]:
        """Yield what ``items`` makes of the client; the time is for each wait, not the whole."""
        return iterate_on_private_loop(self._iterate(purpose, items))

    async def _iterate(
        self, purpose: str, items: Callable[[Client], AsyncGenerator[T, None]]
    ) -> AsyncGenerator[T, None]:
        try:
            async with aclosing(items(self._open.get())) as opened:
                async for item in opened:
                    yield item
        except self.errors as error:
            failure = self._as_ours(error, purpose)
        else:
            return
        raise failure

    def _as_ours(self, error: Exception, purpose: str) -> ProviderError:
        # ProviderTimeoutError is a TimeoutError too, and may come from within.
        return error if isinstance(error, ProviderError) else self.seam.translate(error, purpose)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await run_on_private_loop(self._close())

    async def _close(self) -> None:
        client = self._open.take()
        if client is not None:
            await self.close_client(client)
