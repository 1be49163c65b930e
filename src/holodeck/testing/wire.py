"""The OpenAI wire format as a server writes it: bodies, stream events, errors."""

from __future__ import annotations

import base64
import json
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holodeck.testing.replies import Reply, ServerRequest

__all__ = [
    "VendorError",
    "chat_body",
    "chat_events",
    "embedding_body",
    "error_for",
    "models_body",
    "refusal_of",
    "usage_of",
]

Json = dict[str, Any]  # Any: JSON

_CHARACTERS_PER_TOKEN = 4
_PIECE = 16  # characters in a streamed piece
_REASONING_MODEL = re.compile(r"^(o\d|gpt-5)")


@dataclass(frozen=True, kw_only=True)
class VendorError:
    """An error as the vendor sends it."""

    status: int
    type: str
    code: str | None
    message: str
    param: str | None = None

    def body(self) -> Json:
        """Return the JSON body."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": error}


def _error(status: int, kind: str, code: str | None, message: str) -> VendorError:
    return VendorError(status=status, type=kind, code=code, message=message)


_INVALID = "invalid_request_error"
_ERRORS = (
    _error(400, _INVALID, None, "The request is not valid."),
    _error(400, _INVALID, "content_filter", "The content policy does not allow this prompt."),
    _error(
        400,
        _INVALID,
        "context_length_exceeded",
        "This model's maximum context length is 8192 tokens; your messages are longer.",
    ),
    # Some compatible servers echo the whole key; a client has to live with that.
    _error(401, _INVALID, "invalid_api_key", "Incorrect API key provided: {key}."),
    _error(403, _INVALID, "permission_denied", "This key may not use this model."),
    _error(404, _INVALID, "model_not_found", "The model `{model}` does not exist."),
    _error(408, "server_error", None, "The request took too long to arrive."),
    _error(409, "server_error", None, "The resource is being changed by another request."),
    _error(429, "requests", "rate_limit_exceeded", "Rate limit reached for {model}."),
    _error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
    _error(500, "server_error", None, "The server had an error while processing the request."),
    _error(502, "server_error", None, "Bad gateway."),
    _error(503, "server_error", "overloaded", "The engine is currently overloaded."),
)


def error_for(request: ServerRequest, *, status: int | None, code: str | None) -> VendorError:
    """Return the vendor's error for a status, a code, or both; an unknown one is made up."""
    for error in _ERRORS:
        if status in (None, error.status) and code in (None, error.code):
            filled = error.message.format(model=request.model, key=_key_of(request))
            return _error(error.status, error.type, error.code, filled)
    return _error(status or 400, "error", code, f"Error {status} {code}.")


def _key_of(request: ServerRequest) -> str:
    given = request.headers.get("api-key") or request.headers.get("authorization", "")
    return given.removeprefix("Bearer ").removeprefix("Basic ")


def refusal_of(request: ServerRequest) -> VendorError | None:
    """Return why the vendor would not take the request at all, or ``None``."""
    body = request.body
    if not request.model:
        return _invalid("you must provide a model parameter", None)
    if request.is_embedding:
        if not request.texts or not all(request.texts):
            return _invalid("'$.input' is invalid: it holds an empty string", None)
        return None
    if _REASONING_MODEL.match(request.model):
        if "max_tokens" in body:
            return _invalid("Use 'max_completion_tokens' instead.", "unsupported_parameter")
        if body.get("temperature", 1) != 1:
            return _invalid("Only the default temperature (1) is allowed.", "unsupported_value")
    wants_json = (body.get("response_format") or {}).get("type") == "json_object"
    if wants_json and "json" not in request.text.lower():
        return _invalid("'messages' must contain the word 'json' in some form.", None)
    return None


def _invalid(message: str, code: str | None) -> VendorError:
    return _error(400, _INVALID, code, message)


def _tokens(text: str) -> int:
    return max(1, len(text) // _CHARACTERS_PER_TOKEN) if text else 0


def usage_of(request: ServerRequest, reply: Reply) -> tuple[int, int]:
    """Return prompt and completion tokens: as the reply says, else by the characters."""
    said = (reply.text or "") + "".join(call.arguments for call in reply.tool_calls)
    prompt = _tokens(request.text) if reply.prompt_tokens is None else reply.prompt_tokens
    completion = _tokens(said) if reply.completion_tokens is None else reply.completion_tokens
    return prompt, completion


def _usage_body(request: ServerRequest, reply: Reply) -> Json:
    prompt, completion = usage_of(request, reply)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _finish_reason(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def chat_body(request: ServerRequest, reply: Reply, number: int) -> Json:
    """Return the whole answer to a chat completion."""
    message: Json = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.tool_calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    return {
        **_head(request, "chat.completion", number),
        "choices": [choice],
        "usage": _usage_body(request, reply),
    }


def _head(request: ServerRequest, kind: str, number: int) -> Json:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": request.model}


def chat_events(request: ServerRequest, reply: Reply, number: int) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed answer."""
    head = _head(request, "chat.completion.chunk", number)
    for delta in _deltas(reply):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    end = {"index": 0, "delta": {}, "finish_reason": _finish_reason(reply)}
    yield _event({**head, "choices": [end]})
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield _event({**head, "choices": [], "usage": _usage_body(request, reply)})
    yield b"data: [DONE]\n\n"


def _event(body: Json) -> bytes:
    return b"data: " + json.dumps(body).encode("utf-8") + b"\n\n"


def _deltas(reply: Reply) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    if reply.refusal is not None:
        yield {"refusal": reply.refusal}
    text = reply.text or ""
    for start in range(0, len(text), _PIECE):
        yield {"content": text[start : start + _PIECE]}
    for index, call in enumerate(reply.tool_calls):
        function = {"name": call.name, "arguments": ""}
        yield {
            "tool_calls": [
                {"index": index, "id": call.id, "type": "function", "function": function}
            ]
        }
        middle = len(call.arguments) // 2
        for part in (call.arguments[:middle], call.arguments[middle:]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def embedding_body(request: ServerRequest, vectors: Sequence[Sequence[float]]) -> Json:
    """Return the answer to an embedding request, in the asked encoding."""
    packed = request.body.get("encoding_format") == "base64"
    tokens = _tokens(request.text)
    return {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": _packed(vector) if packed else list(vector),
            }
            for index, vector in enumerate(vectors)
        ],
        "model": request.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(array("f", vector).tobytes()).decode("ascii")


def models_body(names: Sequence[str]) -> Json:
    """Return the list of models."""
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in names]
    return {"object": "list", "data": models}
