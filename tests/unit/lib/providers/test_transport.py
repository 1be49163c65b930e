"""Connections to a server on loopback: as many as calls in flight, used again and again."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

from holodeck.lib.providers.transport import ConnectionStack, open_http
from holodeck.testing.http import Connection, HttpRequest
from holodeck.testing.listener import Listener

pytestmark = pytest.mark.unit


class Server:
    """Answers each request with the number of the connection that it came by."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.hangs = threading.Event()
        self.has_closed = threading.Event()
        self.listener = Listener(self.answer, 0)

    async def answer(self, request: HttpRequest, connection: Connection) -> None:
        if connection not in self.connections:
            self.connections.append(connection)
        if request.path == "/hang":
            self.hangs.set()
            await asyncio.sleep(60)
        await asyncio.sleep(0.02 if request.path == "/slow" else 0)
        number = str(self.connections.index(connection)).encode()
        await connection.send(200, number, headers={})
        if request.path == "/last":
            await connection.close()
            self.has_closed.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.port}"

    def __enter__(self) -> Server:
        self.listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()


async def test_a_connection_is_used_again() -> None:
    """Calls one after the other share one, calls at once have one each."""
    with Server() as server:
        async with httpx.AsyncClient(transport=ConnectionStack()) as http:
            first = [(await http.get(f"{server.url}/")).text for _ in range(3)]
            await asyncio.gather(*(http.get(f"{server.url}/slow") for _ in range(4)))
            await asyncio.gather(*(http.get(f"{server.url}/slow") for _ in range(4)))

    assert first == ["0"] * 3
    assert len(server.connections) == 4


async def test_a_connection_that_the_server_closed_is_opened_again() -> None:
    """The next call finds out and does not fail."""
    with Server() as server:
        async with httpx.AsyncClient(transport=ConnectionStack()) as http:
            await http.get(f"{server.url}/last")
            await asyncio.to_thread(server.has_closed.wait)
            again = (await http.get(f"{server.url}/")).text

    assert again == "1"


async def test_a_cancelled_call_leaves_a_usable_connection() -> None:
    """What was cancelled is hung up on; the next call has a connection of its own."""
    with Server() as server:
        async with httpx.AsyncClient(transport=ConnectionStack()) as http:
            hanging = asyncio.create_task(http.get(f"{server.url}/hang"))
            await asyncio.to_thread(server.hangs.wait)
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            again = (await http.get(f"{server.url}/")).text

    assert again == "1"


def test_the_environments_proxies_are_for_servers_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server right here is reached directly, any other as the environment says."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:1")
    here = open_http(httpx.AsyncClient, is_loopback=True)
    elsewhere = open_http(httpx.AsyncClient, is_loopback=False)

    assert not here.trust_env
    assert elsewhere.trust_env
