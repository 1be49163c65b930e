"""The OpenAI client of one model: opened on the private loop, used from any."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit, Timeout

from holodeck.errors import ProviderError
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.loop import PerLoop, iterate_on_private_loop, run_on_private_loop
from holodeck.lib.providers.openai_errors import CLIENT_ERRORS, ErrorSeam

__all__ = ["OpenAIClient"]

T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"
_CONNECT_SECONDS = 10.0


class OpenAIClient:
    """Holds the connections to one server and maps its errors; makes one try a call.

    A subclass for another way in (Azure) overrides ``find_endpoint`` and ``open_client``.
    """

    def __init__(self, access: ModelAccess) -> None:
        self.access = access
        self.endpoint = self.find_endpoint(access)
        self.seam = ErrorSeam(access=access, url=self.endpoint.url, secrets=self._secrets())
        self._open = PerLoop(self.open_client)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.endpoint.url})"

    @property
    def key(self) -> str | None:
        """The API key; the line end that a key from a file often has is not part of it."""
        key = self.access.api_key
        return None if key is None else key.get_secret_value().strip()

    def _secrets(self) -> tuple[str, ...]:
        found = (
            self.key,
            self.endpoint.password,
            (self.endpoint.authorization or "").removeprefix("Basic "),
        )
        return tuple(secret for secret in found if secret)

    @staticmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return where calls go."""
        return endpoint_of(access, OPENAI_URL)

    def open_client(self) -> AsyncOpenAI:
        """Return a new client; retries are ours, so it makes none."""
        return AsyncOpenAI(
            api_key=self.key or "not sent",
            base_url=self.endpoint.url,
            max_retries=0,
            timeout=self.timeout,
            http_client=self.direct_http(),
        )

    @property
    def request_headers(self) -> dict[str, str]:
        """Headers of each request: Basic authorization in place of the key's, or none at all."""
        if self.endpoint.authorization is not None:
            return {"Authorization": self.endpoint.authorization}
        if not self.key:
            return {"Authorization": Omit()}  # type: ignore[dict-item]  # the client's word for "send none"
        return {}

    def direct_http(self) -> DefaultAsyncHttpxClient | None:
        """Return a transport that ignores the environment's proxies, for a server right here."""
        return DefaultAsyncHttpxClient(trust_env=False) if self.endpoint.is_loopback else None

    @property
    def timeout(self) -> Timeout:
        """Seconds for each wait for bytes; connecting takes no longer than 10."""
        seconds = self.access.timeout
        return Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))

    async def call(self, purpose: str, work: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        """Return what ``work`` makes of the client, within the time for one call.

        Raises:
            ProviderError: What the seam makes of the client's error.
        """
        return await run_on_private_loop(self._call(purpose, work))

    async def _call(self, purpose: str, work: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.access.timeout):
                return await work(self._open.get())
        except CLIENT_ERRORS as error:
            failure = _as_ours(self.seam, error, purpose)
        raise failure  # outside of the handler: no context that holds the key

    def iterate(
        self, purpose: str, items: Callable[[AsyncOpenAI], AsyncGenerator[T, None]]
    ) -> AsyncGenerator[T, None]:
        """Yield what ``items`` makes of the client; the time is for each wait, not the whole."""
        return iterate_on_private_loop(self._iterate(purpose, items))

    async def _iterate(
        self, purpose: str, items: Callable[[AsyncOpenAI], AsyncGenerator[T, None]]
    ) -> AsyncGenerator[T, None]:
        try:
            async with aclosing(items(self._open.get())) as opened:
                async for item in opened:
                    yield item
        except CLIENT_ERRORS as error:
            failure = _as_ours(self.seam, error, purpose)
        else:
            return
        raise failure

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await run_on_private_loop(self._close())

    async def _close(self) -> None:
        client = self._open.take()
        if client is not None:
            await client.close()


def _as_ours(seam: ErrorSeam, error: Exception, purpose: str) -> ProviderError:
    # ProviderTimeoutError is a TimeoutError too, and may come from within.
    return error if isinstance(error, ProviderError) else seam.translate(error, purpose)
