"""How the loopback server turns one request into one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import format_datetime, formatdate
from typing import Any, cast

from holodeck.testing.counts import KindCount
from holodeck.testing.dialects import OLLAMA, Dialect, dialect_of
from holodeck.testing.faults import Fault, FaultPlan
from holodeck.testing.http import Connection
from holodeck.testing.replies import Answered, Reply, ReplyRules, Scores, ServerRequest, Vectors
from holodeck.testing.wire import VendorError, models_body
from holodeck.testing.wire_ollama import about_models, as_seen_by_the_model
from holodeck.testing.wire_rerank import rerank_body, shared_words
from holodeck.testing.words import word_vector

__all__ = ["Answering", "Latency"]

Latency = float | Mapping[str, float]
"""Seconds before an answer, for all kinds or by kind."""

_WEB_PAGE = b"<html><body>It works, but this is no model.</body></html>"


def _open_gate() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate


@dataclass(frozen=True, kw_only=True)
class Answering:
    """The rules, faults and settings that an answer is made from; none while the gate is shut.

    Attributes:
        context_length: The most that a model takes, as Ollama's addresses say and do.
        obeys_truncate: Whether Ollama's address refuses a chat that it may not cut.
        cuts: The requests that were cut there without a word.
    """

    rules: ReplyRules
    faults: FaultPlan
    latency: Latency
    api_key: str | None
    embedding_width: int
    models: tuple[str, ...] | None
    context_length: int | None = None
    obeys_truncate: bool = False
    cuts: list[ServerRequest] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=_open_gate)

    async def answer(
        self,
        request: ServerRequest,
        connection: Connection,
        counted: Sequence[KindCount],
        number: int,
    ) -> None:
        """Answer on the connection, or fail as the fault says; tokens go to ``counted``."""
        dialect = dialect_of(request.path)
        if dialect is None:
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
        seen = self._seen(request, fault, dialect)
        if isinstance(seen, VendorError):
            headers = _retry_headers(fault)
            await connection.send_json(seen.status, seen.body(), headers=headers)
            return
        if not isinstance(seen, ServerRequest):
            await connection.send_json(200, seen, cut=fault.cut_stream)
            return
        if seen.is_rerank:
            scores = [float(score) for score in self._scores(seen)]
            if fault.malformed:
                scores.pop()
            await connection.send_json(200, rerank_body(scores), cut=fault.cut_stream)
            return
        try:
            said = self._checked(seen, self._said(seen))
        except Exception as error:  # noqa: BLE001  # a test's own function: its client is told
            body = {"error": {"message": f"no reply: {error!r}", "code": "rule_failed"}}
            await connection.send_json(400, body)
            return
        if isinstance(said, Reply):
            reply = _spoiled(said, fault)
            for count in counted:
                count.spend(*dialect.usage_of(request, reply))
            if dialect.streams(request):
                await connection.send_events(
                    dialect.chat_pieces(request, reply, number),
                    cut=fault.cut_stream,
                    content_type=dialect.stream_type,
                )
            else:
                body = dialect.chat_body(request, reply, number)
                await connection.send_json(200, body, cut=fault.cut_stream)
        else:
            await self._send_vectors(request, connection, counted, said, fault, dialect)

    def _latency(self, kind: str) -> float:
        return self.latency.get(kind, 0.0) if isinstance(self.latency, Mapping) else self.latency

    def _seen(
        self, request: ServerRequest, fault: Fault, dialect: Dialect
    ) -> ServerRequest | VendorError | dict[str, Any]:
        """Return what the model sees of a request, else the answer: an error, or JSON."""
        if self.api_key is not None and not dialect.knows_key(request, self.api_key):
            return dialect.error_for(request, status=401, code=None)
        if fault.status is not None or fault.code is not None:
            error = dialect.error_for(request, status=fault.status, code=fault.code)
            return error if fault.message is None else replace(error, message=fault.message)
        if not (request.is_chat or request.is_embedding or request.is_rerank):
            if dialect is OLLAMA:
                return about_models(request, self.models, self.context_length)
            return models_body(self.models or ())
        refusal = dialect.refusal_of(request)
        if refusal is not None:
            return refusal
        if self.models is not None and request.model not in self.models:
            return dialect.error_for(request, status=404, code=None)
        return self._as_cut(request) if dialect is OLLAMA else request

    def _as_cut(self, request: ServerRequest) -> ServerRequest | VendorError:
        seen = as_seen_by_the_model(
            request, self.context_length, obeys_truncate=self.obeys_truncate
        )
        if isinstance(seen, ServerRequest) and seen is not request:
            self.cuts.append(request)
        return seen

    def _said(self, request: ServerRequest) -> Answered:
        if request.is_embedding and not self.rules.has(request):
            width = int(request.body.get("dimensions") or self.embedding_width)
            return [word_vector(text, width) for text in request.texts]
        return self.rules.answer(request)

    def _scores(self, request: ServerRequest) -> Scores:
        said = self.rules.answer(request) if self.rules.has(request) else shared_words(request)
        if isinstance(said, str | Reply):
            raise TypeError(f"{said!r} does not answer a request to {request.path}")
        return cast("Scores", said)

    @staticmethod
    def _checked(request: ServerRequest, said: Answered) -> Reply | Vectors:
        reply = Reply(text=said) if isinstance(said, str) else cast("Reply | Vectors", said)
        if isinstance(reply, Reply) != request.is_chat:
            raise TypeError(f"{said!r} does not answer a request to {request.path}")
        return reply

    @staticmethod
    async def _send_vectors(
        request: ServerRequest,
        connection: Connection,
        counted: Sequence[KindCount],
        said: Vectors,
        fault: Fault,
        dialect: Dialect,
    ) -> None:
        vectors = [list(vector) for vector in said]
        if fault.malformed:
            vectors[-1] = vectors[-1][:-1]
        for count in counted:
            count.spend(dialect.usage_of(request, Reply())[0], 0)
        body = dialect.embedding_body(request, vectors)
        await connection.send_json(200, body, cut=fault.cut_stream)


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
