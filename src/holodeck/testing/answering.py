"""How the loopback server turns one request into one answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import format_datetime, formatdate

from holodeck.testing.counts import KindCount
from holodeck.testing.faults import Fault, FaultPlan
from holodeck.testing.http import Connection
from holodeck.testing.replies import Answered, Reply, ReplyRules, ServerRequest, Vectors
from holodeck.testing.wire import (
    VendorError,
    chat_body,
    chat_events,
    embedding_body,
    error_for,
    models_body,
    refusal_of,
    usage_of,
)
from holodeck.testing.words import word_vector

__all__ = ["Answering", "Latency"]

Latency = float | Mapping[str, float]
"""Seconds before an answer, for all kinds or by kind."""

_ROUTE = re.compile(
    r"^(?:/v1|/openai/v1|/openai/deployments/[^/]+)?/(chat/completions|embeddings|models)$"
)
_WEB_PAGE = b"<html><body>It works, but this is no model.</body></html>"


def _open_gate() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate


@dataclass(frozen=True, kw_only=True)
class Answering:
    """The rules, faults and settings that an answer is made from; none while the gate is shut."""

    rules: ReplyRules
    faults: FaultPlan
    latency: Latency
    api_key: str | None
    embedding_width: int
    models: tuple[str, ...] | None
    gate: asyncio.Event = field(default_factory=_open_gate)

    async def answer(
        self,
        request: ServerRequest,
        connection: Connection,
        counted: Sequence[KindCount],
        number: int,
    ) -> None:
        """Answer on the connection, or fail as the fault says; tokens go to ``counted``."""
        route = _ROUTE.match(request.path)
        if route is None:
            await connection.send_json(404, {"detail": "Not Found"})
            return
        fault = self.faults.pick(request) or Fault()
        seconds = fault.hang + self._latency(request.kind)
        if seconds:
            await asyncio.sleep(seconds)
        await self.gate.wait()
        if fault.not_json:
            await connection.send(200, _WEB_PAGE, headers={"Content-Type": "text/html"})
            return
        error = self._error(request, fault, route.group(1))
        if error is not None:
            headers = _retry_headers(fault)
            await connection.send_json(error.status, error.body(), headers=headers)
            return
        if route.group(1) == "models":
            await connection.send_json(200, models_body(self.models or ()), cut=fault.cut_stream)
            return
        try:
            said = self._checked(request, self._said(request))
        except Exception as error:  # noqa: BLE001  # a test's own function: its client is told
            body = {"error": {"message": f"no reply: {error!r}", "code": "rule_failed"}}
            await connection.send_json(400, body)
            return
        if isinstance(said, Reply):
            await self._send_chat(
                request,
                connection,
                counted,
                _spoiled(said, fault),
                number=number,
                cut=fault.cut_stream,
            )
        else:
            await self._send_vectors(request, connection, counted, said, fault)

    def _latency(self, kind: str) -> float:
        return self.latency.get(kind, 0.0) if isinstance(self.latency, Mapping) else self.latency

    def _error(self, request: ServerRequest, fault: Fault, route: str) -> VendorError | None:
        if self.api_key is not None and not self._knows_key(request):
            return error_for(request, status=401, code=None)
        if fault.status is not None or fault.code is not None:
            error = error_for(request, status=fault.status, code=fault.code)
            return error if fault.message is None else replace(error, message=fault.message)
        if route == "models":
            return None
        if self.models is not None and request.model not in self.models:
            return error_for(request, status=404, code=None)
        return refusal_of(request)

    def _knows_key(self, request: ServerRequest) -> bool:
        bearer = request.headers.get("authorization") == f"Bearer {self.api_key}"
        return bearer or request.headers.get("api-key") == self.api_key

    def _said(self, request: ServerRequest) -> Answered:
        if request.kind == "embedding" and not self.rules.has(request):
            width = int(request.body.get("dimensions") or self.embedding_width)
            return [word_vector(text, width) for text in request.texts]
        return self.rules.answer(request)

    @staticmethod
    def _checked(request: ServerRequest, said: Answered) -> Reply | Vectors:
        reply = Reply(text=said) if isinstance(said, str) else said
        if isinstance(reply, Reply) != request.path.endswith("/chat/completions"):
            raise TypeError(f"{said!r} does not answer a request to {request.path}")
        return reply

    @staticmethod
    async def _send_vectors(
        request: ServerRequest,
        connection: Connection,
        counted: Sequence[KindCount],
        said: Vectors,
        fault: Fault,
    ) -> None:
        vectors = [list(vector) for vector in said]
        if fault.malformed:
            vectors[-1] = vectors[-1][:-1]
        body = embedding_body(request, vectors)
        for count in counted:
            count.spend(body["usage"]["prompt_tokens"], 0)
        await connection.send_json(200, body, cut=fault.cut_stream)

    @staticmethod
    async def _send_chat(
        request: ServerRequest,
        connection: Connection,
        counted: Sequence[KindCount],
        reply: Reply,
        *,
        number: int,
        cut: bool,
    ) -> None:
        for count in counted:
            count.spend(*usage_of(request, reply))
        if request.body.get("stream"):
            await connection.send_events(chat_events(request, reply, number), cut=cut)
        else:
            await connection.send_json(200, chat_body(request, reply, number), cut=cut)


def _spoiled(reply: Reply, fault: Fault) -> Reply:
    text = reply.text or ""
    if fault.malformed:
        text = text[: len(text) // 2]
    if fault.fenced:
        text = f"```json\n{text}\n```"
    if fault.empty:
        text = ""
    return replace(reply, text=text) if text != (reply.text or "") else reply


def _retry_headers(fault: Fault) -> dict[str, str]:
    headers = {"Date": formatdate(usegmt=True)}
    if isinstance(fault.retry_after, datetime):
        headers["Retry-After"] = format_datetime(fault.retry_after, usegmt=True)
    elif fault.retry_after is not None:
        headers["Retry-After"] = f"{fault.retry_after:g}"
    if fault.retry_after_ms is not None:
        headers["retry-after-ms"] = str(fault.retry_after_ms)
    return headers
