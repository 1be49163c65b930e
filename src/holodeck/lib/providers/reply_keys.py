"""Under which keys paid replies are kept: hashes of everything that shapes a reply."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from holodeck.lib.contracts import ChatRequest, Message, Tool

__all__ = ["reply_key", "vector_key"]

_KEY_VERSION = 1  # raise when the canonical form changes: old keys are then never found


def reply_key(provider: str, model: str, request: ChatRequest) -> str:
    """Return the key of the model's reply to ``request``.

    The purpose is not part of it, since it is not sent; nor is the server's address, so that a
    server may move.
    """
    return _hash(
        "chat",
        provider,
        model,
        [_message(message) for message in request.messages],
        None if request.temperature is None else float(request.temperature),
        request.max_tokens,
        request.json,
        [_tool(tool) for tool in request.tools],
    )


def vector_key(provider: str, model: str, dimensions: int | None, text: str) -> str:
    """Return the key of the vector of ``text``."""
    return _hash("embedding", provider, model, dimensions, text)


def _hash(*parts: Any) -> str:  # Any: JSON
    canonical = json.dumps([_KEY_VERSION, *parts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _message(message: Message) -> list[Any]:  # Any: JSON
    calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    return [message.role, message.content, calls, message.tool_call_id]


def _tool(tool: Tool) -> list[Any]:  # Any: JSON
    return [tool.name, tool.description, dict(tool.parameters)]
