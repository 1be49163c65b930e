"""Ollama's own API as a server writes it: bodies, lines of a stream, errors, and the silent cut."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holodeck.lib.tokens import count_tokens, encoding
from holodeck.testing.replies import Reply, ServerRequest
from holodeck.testing.wire import VendorError

__all__ = [
    "DEFAULT_CONTEXT",
    "about_models",
    "as_seen_by_the_model",
    "ollama_chat_body",
    "ollama_chat_lines",
    "ollama_embedding_body",
    "ollama_error_for",
    "ollama_refusal_of",
    "ollama_tokens",
    "ollama_usage_of",
]

Json = dict[str, Any]  # Any: JSON

DEFAULT_CONTEXT = 4096
"""What a model gets when the request names no ``num_ctx``."""

_CREATED = "2025-01-01T00:00:00Z"
_PIECE = 16  # characters in a streamed piece
# The models' own vocabularies need more tokens than cl100k_base.
_TOKENS_FOR_OURS = 1.1
_MESSAGES = {
    400: "the request is not valid",
    401: "unauthorized",
    403: "forbidden",
    404: "model '{model}' not found",
    408: "the request took too long to arrive",
    409: "conflict",
    429: "too many requests",
    500: "llama runner process has terminated",
    502: "bad gateway",
    503: "server busy, please try again.  maximum pending requests exceeded",
}
_CODES = {
    "context_length_exceeded": (400, "the input length exceeds the context length"),
    "content_filter": (400, "content_filter"),
}


@dataclass(frozen=True, kw_only=True)
class _OllamaError(VendorError):
    """An error is a text."""

    def body(self) -> Json:
        """Return the JSON body."""
        return {"error": self.message}


def _error(status: int, message: str) -> VendorError:
    return _OllamaError(status=status, type="", code=None, message=message)


def ollama_error_for(
    request: ServerRequest, *, status: int | None, code: str | None
) -> VendorError:
    """Return Ollama's error for a status or for what a code of other vendors means."""
    if code in _CODES:
        return _error(*_CODES[code])
    said = _MESSAGES.get(status or 400, f"error {status} {code}")
    return _error(status or 400, said.format(model=request.model))


def ollama_refusal_of(request: ServerRequest) -> VendorError | None:
    """Return why Ollama would not take the request at all, or ``None``."""
    return None if request.model else _error(400, "model is required")


def ollama_tokens(text: str) -> int:
    """Return how many tokens the model makes of a text."""
    return math.ceil(count_tokens(text) * _TOKENS_FOR_OURS)


def _context_of(request: ServerRequest, limit: int | None) -> int:
    asked = int((request.body.get("options") or {}).get("num_ctx") or DEFAULT_CONTEXT)
    return asked if limit is None else min(asked, limit)


def as_seen_by_the_model(
    request: ServerRequest, limit: int | None, *, obeys_truncate: bool
) -> ServerRequest | VendorError:
    """Return what is left of a request in its context, as Ollama cuts it: without a word.

    Args:
        request: The request.
        limit: The most that the model takes.
        obeys_truncate: Whether ``truncate: false`` of a chat is understood, as newer servers do.
    """
    context = _context_of(request, limit)
    keeps_whole = request.body.get("truncate") is False
    if request.is_embedding:
        too_long = any(ollama_tokens(text) > context for text in request.texts)
        return (
            ollama_error_for(request, status=None, code="context_length_exceeded")
            if (too_long and keeps_whole)
            else request
        )
    total = ollama_tokens(request.text)
    if total <= context:
        return request
    if keeps_whole and obeys_truncate:
        return ollama_error_for(request, status=None, code="context_length_exceeded")
    return replace(request, body={**request.body, "messages": _cut(request, context)})


def _cut(request: ServerRequest, context: int) -> list[Json]:
    """Keep system messages and the end of the last one, as much as fits."""
    *earlier, last = request.body["messages"]
    kept = [message for message in earlier if message.get("role") == "system"]
    room = int(context / _TOKENS_FOR_OURS)
    room -= sum(count_tokens(str(message.get("content", ""))) for message in kept)
    tokens = encoding().encode_ordinary(str(last.get("content", "")))
    return [*kept, {**last, "content": encoding().decode(tokens[-max(1, room) :])}]


def ollama_usage_of(
    request: ServerRequest, reply: Reply, limit: int | None = None
) -> tuple[int, int]:
    """Return prompt and completion tokens: as the reply says, else as the model counts.

    A prompt that was cut fills the context.
    """
    prompt = min(_context_of(request, limit), max(1, ollama_tokens(request.text)))
    said = ollama_tokens(reply.text or "")
    return (
        prompt if reply.prompt_tokens is None else reply.prompt_tokens,
        said if reply.completion_tokens is None else reply.completion_tokens,
    )


def _last(request: ServerRequest, reply: Reply, message: Json) -> Json:
    prompt, completion = ollama_usage_of(request, reply)
    reason = reply.finish_reason or "stop"
    return {
        **_head(request),
        "message": message,
        "done": True,
        "done_reason": "stop" if reason == "tool_calls" else reason,
        "total_duration": 1,
        "prompt_eval_count": prompt,
        "eval_count": completion,
    }


def _head(request: ServerRequest) -> Json:
    return {"model": request.model, "created_at": _CREATED}


def _message(reply: Reply, text: str) -> Json:
    message: Json = {"role": "assistant", "content": text}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": json.loads(call.arguments)}}
            for call in reply.tool_calls
        ]
    return message


def ollama_chat_body(request: ServerRequest, reply: Reply) -> Json:
    """Return the whole answer to a chat."""
    return _last(request, reply, _message(reply, reply.text or ""))


def ollama_chat_lines(request: ServerRequest, reply: Reply) -> Iterator[bytes]:
    """Yield the lines of a streamed answer."""
    text = reply.text or ""
    for start in range(0, len(text), _PIECE):
        piece = {"role": "assistant", "content": text[start : start + _PIECE]}
        yield _line({**_head(request), "message": piece, "done": False})
    yield _line(_last(request, reply, _message(reply, "")))


def _line(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8") + b"\n"


def ollama_embedding_body(request: ServerRequest, vectors: Sequence[Sequence[float]]) -> Json:
    """Return the answer to an embedding request."""
    return {
        "model": request.model,
        "embeddings": [list(vector) for vector in vectors],
        "prompt_eval_count": ollama_tokens(request.text),
    }


def about_models(
    request: ServerRequest, names: Sequence[str] | None, limit: int | None
) -> Json | VendorError:
    """Return the answer to ``/api/tags``, ``/api/show`` or ``/api/version``."""
    if request.path.endswith("/version"):
        return {"version": "0.12.6"}
    if request.path.endswith("/tags"):
        return {"models": [{"name": name, "model": name} for name in names or ()]}
    if names is not None and request.model not in names:
        return ollama_error_for(request, status=404, code=None)
    if limit is None:
        return _error(404, "404 page not found")
    info = {"general.architecture": "llama", "llama.context_length": limit}
    return {"details": {"family": "llama"}, "model_info": info, "capabilities": ["completion"]}
