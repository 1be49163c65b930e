"""An HTTP transport whose cost for a call does not grow with the calls in flight.

httpx's own pool looks at all its connections, and asks the system about each, whenever a call
begins or ends: at 25 calls in flight that is half of the client's time.
"""

from __future__ import annotations

import ssl
from collections import defaultdict
from collections.abc import AsyncIterator
from functools import cached_property
from urllib.request import getproxies

import httpx

__all__ = ["ConnectionStack", "open_http"]

_ONE = httpx.Limits(max_connections=1, max_keepalive_connections=1)


def open_http(client: type[httpx.AsyncClient], *, is_loopback: bool) -> httpx.AsyncClient:
    """Return a client: past the environment's proxies for a server right here, else by them.

    Args:
        client: The class of the client, for its defaults.
        is_loopback: Whether the server is right here.
    """
    if is_loopback or not getproxies():
        return client(trust_env=False, transport=ConnectionStack())
    return client()


class ConnectionStack(httpx.AsyncBaseTransport):
    """Takes the connection that was used last, or opens one more.

    Each is a pool of one: it is looked after, and opened again, by httpx.
    """

    def __init__(self) -> None:
        self._all: list[httpx.AsyncHTTPTransport] = []
        self._idle: dict[str, list[httpx.AsyncHTTPTransport]] = defaultdict(list)

    @cached_property
    def _encrypted(self) -> ssl.SSLContext:
        # The system's certificates take a while to read, and plain HTTP has no use for them.
        return httpx.create_ssl_context()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request; its connection is free again when the response is closed."""
        scheme = request.url.scheme
        idle = self._idle[scheme]
        connection = idle.pop() if idle else self._open(scheme)
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            idle.append(connection)
            raise
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Returning(response.stream, connection, idle)
        return response

    def _open(self, scheme: str) -> httpx.AsyncHTTPTransport:
        none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        verify = self._encrypted if scheme == "https" else none
        connection = httpx.AsyncHTTPTransport(verify=verify, limits=_ONE)
        self._all.append(connection)
        return connection

    async def aclose(self) -> None:
        """Close every connection."""
        opened, self._all = self._all, []
        self._idle.clear()
        for connection in opened:
            await connection.aclose()


class _Returning(httpx.AsyncByteStream):
    """A response's bytes; gives the connection back when it is closed."""

    def __init__(
        self,
        stream: httpx.AsyncByteStream,
        connection: httpx.AsyncHTTPTransport,
        idle: list[httpx.AsyncHTTPTransport],
    ) -> None:
        self._stream = stream
        self._connection: httpx.AsyncHTTPTransport | None = connection
        self._idle = idle

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        """Close the response; a second time does nothing."""
        connection, self._connection = self._connection, None
        try:
            await self._stream.aclose()
        finally:
            if connection is not None:
                self._idle.append(connection)
