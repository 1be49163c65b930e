"""Our requests and replies in the words of Ollama's own API."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from holodeck.lib.contracts import ChatReply, ChatRequest, Message, Tool, ToolCall, Usage

__all__ = ["StreamedReply", "chat_body", "context_limit", "reply_of"]

Json = dict[str, Any]  # Any: JSON


def chat_body(model: str, request: ChatRequest, context_size: int, *, stream: bool) -> Json:
    """Return the body of a call to ``/api/chat``.

    ``truncate`` and ``shift`` are understood by newer servers, which then refuse what older ones
    cut; a cut of an older one is found by its count of the prompt's tokens.
    """
    options: Json = {"num_ctx": context_size}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    body: Json = {
        "model": model,
        "messages": _messages(request.messages),
        "stream": stream,
        "options": options,
        "truncate": False,
        "shift": False,
    }
    if request.json:
        body["format"] = "json"
    if request.tools:
        body["tools"] = [_tool(each) for each in request.tools]
    return body


def _messages(messages: tuple[Message, ...]) -> list[Json]:
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    return [_message(message, names) for message in messages]


def _message(message: Message, names: dict[str, str]) -> Json:
    body: Json = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _arguments(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        body["tool_name"] = names.get(message.tool_call_id, message.tool_call_id)
    return body


def _arguments(written: str) -> Json:
    """Return arguments as the object that Ollama wants; a model may have written no object."""
    try:
        found = json.loads(written)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"arguments": written}


def _tool(tool: Tool) -> Json:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _calls(message: Json, first: int) -> list[ToolCall]:
    return [
        ToolCall(
            id=str(call.get("id") or f"call_{number}"),
            name=str(call["function"]["name"]),
            arguments=json.dumps(call["function"].get("arguments") or {}, ensure_ascii=False),
        )
        for number, call in enumerate(message.get("tool_calls") or (), start=first)
    ]


def context_limit(model: Json) -> int | None:
    """Return the most tokens of context that a model takes, from what ``/api/show`` says of it."""
    info = model.get("model_info") or {}
    limit = info.get(f"{info.get('general.architecture')}.context_length")
    return limit if isinstance(limit, int) and limit > 0 else None


@dataclass
class StreamedReply:
    """A reply that is put together from the lines of an answer; a whole one has a single line."""

    _texts: list[str] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _last: Json = field(default_factory=dict)

    def add(self, piece: Json) -> str:
        """Take a line in and return its text.

        Raises:
            ValueError: It is no line of a chat.
        """
        message = piece.get("message")
        if not isinstance(message, dict):
            raise ValueError("no message")  # noqa: TRY004  # the client's word for a wrong body
        self._calls += _calls(message, len(self._calls) + 1)
        text = str(message.get("content") or "")
        self._texts.append(text)
        self._last = piece
        return text

    @property
    def is_done(self) -> bool:
        """Whether the last line came."""
        return bool(self._last.get("done"))

    @property
    def prompt_tokens(self) -> int:
        """The prompt's tokens as the server counted them, after a cut."""
        return int(self._last.get("prompt_eval_count") or 0)

    def whole(self) -> ChatReply:
        """Return the reply, once the answer has ended."""
        reason = str(self._last.get("done_reason") or "stop")
        return ChatReply(
            text="".join(self._texts),
            finish_reason="tool_calls" if self._calls and reason == "stop" else reason,
            usage=Usage(
                input_tokens=self.prompt_tokens,
                output_tokens=int(self._last.get("eval_count") or 0),
            ),
            tool_calls=tuple(self._calls),
        )


def reply_of(body: Json) -> StreamedReply:
    """Return the reply that came as a whole."""
    reply = StreamedReply()
    reply.add(body)
    return reply
