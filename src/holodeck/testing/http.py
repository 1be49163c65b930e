"""As much of HTTP/1.1 as a loopback server needs, on asyncio streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

__all__ = ["Connection", "HttpRequest"]


@dataclass(frozen=True, kw_only=True)
class HttpRequest:
    """A request as it came in; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: Mapping[str, str] = field(default_factory=dict)


class Connection:
    """One client's connection, kept open over many requests."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> HttpRequest | None:
        """Return the next request, or ``None`` when the client has gone."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        try:
            body = await self._read_body(headers)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        path, _, query = target.partition("?")
        return HttpRequest(
            method=method, path=path, headers=headers, body=body, query=dict(parse_qsl(query))
        )

    async def _read_body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self._reader.readexactly(int(headers.get("content-length", "0")))
        parts = []
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        await self._reader.readuntil(b"\r\n")
        return b"".join(parts)

    async def send(
        self, status: int, body: bytes, *, headers: Mapping[str, str], cut: bool = False
    ) -> None:
        """Send a whole answer, or half of its body before hanging up."""
        sized = {**headers, "Content-Length": str(len(body))}
        self._writer.write(_head(status, sized) + (body[: len(body) // 2] if cut else body))
        await self._writer.drain()
        if cut:
            self._writer.close()

    async def send_json(
        self,
        status: int,
        body: Mapping[str, Any],  # Any: JSON
        *,
        headers: Mapping[str, str] | None = None,
        cut: bool = False,
    ) -> None:
        """Send a JSON answer."""
        content = json.dumps(body).encode("ascii")  # halves of characters too can be sent so
        typed = {"Content-Type": "application/json", **(headers or {})}
        await self.send(status, content, headers=typed, cut=cut)

    async def send_events(
        self,
        events: Iterable[bytes],
        *,
        cut: bool = False,
        content_type: str = "text/event-stream",
    ) -> None:
        """Send the pieces of a stream, or the first half of them before hanging up."""
        streamed = {"Content-Type": content_type, "Transfer-Encoding": "chunked"}
        self._writer.write(_head(200, streamed))
        listed = list(events)
        for event in listed[: len(listed) // 2] if cut else listed:
            self._writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await self._writer.drain()
        if cut:
            self._writer.close()
            return
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    @property
    def is_open(self) -> bool:
        """Whether another request may come."""
        return not self._writer.is_closing()

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):  # the client hung up first
            await self._writer.wait_closed()


_STATUSES = frozenset(HTTPStatus)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    phrase = HTTPStatus(status).phrase if status in _STATUSES else "Unknown"  # 529, 520 and more
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {text}" for name, text in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
