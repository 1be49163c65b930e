"""The wire formats that the loopback server speaks, and which address speaks which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holodeck.testing.replies import Reply, ServerRequest
from holodeck.testing.wire import (
    VendorError,
    chat_body,
    chat_events,
    embedding_body,
    error_for,
    refusal_of,
    usage_of,
)
from holodeck.testing.wire_azure import azure_error_for, azure_refusal_of
from holodeck.testing.wire_ollama import (
    ollama_chat_body,
    ollama_chat_lines,
    ollama_embedding_body,
    ollama_error_for,
    ollama_refusal_of,
    ollama_usage_of,
)

__all__ = ["AZURE", "OLLAMA", "OPENAI", "Dialect", "dialect_of"]

Json = dict[str, Any]  # Any: JSON


class _ErrorFor(Protocol):
    def __call__(
        self, request: ServerRequest, *, status: int | None, code: str | None
    ) -> VendorError: ...


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one vendor writes what the server has to say.

    Attributes:
        error_for: The vendor's error for a status or code.
        refusal_of: Why the vendor would not take a request at all.
        chat_body: The answer to a chat, given the number of the request.
        chat_pieces: The same as a stream.
        embedding_body: The answer to an embedding request.
        usage_of: Prompt and completion tokens of an answer.
        streams_by_default: Whether a chat is streamed unless it says otherwise.
        stream_type: The content type of a stream.
        key_header: The header of the key; ``None``: a bearer's, or the header ``api-key``.
    """

    error_for: _ErrorFor
    refusal_of: Callable[[ServerRequest], VendorError | None]
    chat_body: Callable[[ServerRequest, Reply, int], Json]
    chat_pieces: Callable[[ServerRequest, Reply, int], Iterator[bytes]]
    embedding_body: Callable[[ServerRequest, Sequence[Sequence[float]]], Json]
    usage_of: Callable[[ServerRequest, Reply], tuple[int, int]]
    streams_by_default: bool = False
    stream_type: str = "text/event-stream"
    key_header: str | None = None

    def streams(self, request: ServerRequest) -> bool:
        """Tell whether a chat is to be streamed."""
        return bool(request.body.get("stream", self.streams_by_default))

    def knows_key(self, request: ServerRequest, key: str) -> bool:
        """Tell whether a request carries the key where the vendor looks for it."""
        by_header = request.headers.get("api-key") == key
        if self.key_header == "api-key":
            return by_header
        return by_header or request.headers.get("authorization") == f"Bearer {key}"


OPENAI = Dialect(
    error_for=error_for,
    refusal_of=refusal_of,
    chat_body=chat_body,
    chat_pieces=chat_events,
    embedding_body=embedding_body,
    usage_of=usage_of,
)
AZURE = Dialect(
    error_for=azure_error_for,
    refusal_of=azure_refusal_of,
    chat_body=chat_body,
    chat_pieces=chat_events,
    embedding_body=embedding_body,
    usage_of=usage_of,
    key_header="api-key",
)
OLLAMA = Dialect(
    error_for=ollama_error_for,
    refusal_of=ollama_refusal_of,
    chat_body=lambda request, reply, number: ollama_chat_body(request, reply),
    chat_pieces=lambda request, reply, number: ollama_chat_lines(request, reply),
    embedding_body=ollama_embedding_body,
    usage_of=ollama_usage_of,
    streams_by_default=True,
    stream_type="application/x-ndjson",
)

_ADDRESSES = (
    (re.compile(r"^(/v1|/v2)?/rerank$"), OPENAI),
    (re.compile(r"^(/v1|/openai/v1)?/(chat/completions|embeddings|models)$"), OPENAI),
    (re.compile(r"^/openai/deployments/[^/]+/(chat/completions|embeddings)$"), AZURE),
    (re.compile(r"^/api/(chat|embed|tags|show|version)$"), OLLAMA),
)


def dialect_of(path: str) -> Dialect | None:
    """Return what is spoken at an address; ``None``: nothing is there."""
    return next((dialect for pattern, dialect in _ADDRESSES if pattern.match(path)), None)
