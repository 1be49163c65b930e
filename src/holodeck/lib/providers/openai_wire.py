"""Our requests and replies in the words of the OpenAI client."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall
from openai.types.completion_usage import CompletionUsage

from holodeck.lib.contracts import ChatReply, ChatRequest, Message, Tool, ToolCall, Usage
from holodeck.lib.providers.model_names import counts_thoughts

__all__ = ["StreamedReply", "body_of", "chat_arguments", "reply_of"]

Json = dict[str, Any]  # Any: JSON


def chat_arguments(model: str, request: ChatRequest) -> Json:
    """Return the arguments of a chat completion; what is not set is not sent."""
    arguments: Json = {"model": model, "messages": [_message(each) for each in request.messages]}
    if request.temperature is not None:
        arguments["temperature"] = request.temperature
    if request.max_tokens is not None:
        newer = counts_thoughts(model)
        arguments["max_completion_tokens" if newer else "max_tokens"] = request.max_tokens
    if request.json:
        arguments["response_format"] = {"type": "json_object"}
    if request.tools:
        arguments["tools"] = [_tool(each) for each in request.tools]
    return arguments


def _message(message: Message) -> Json:
    body: Json = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def _tool(tool: Tool) -> Json:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _usage(usage: CompletionUsage | None) -> Usage:
    if usage is None:
        return Usage()
    return Usage(input_tokens=usage.prompt_tokens or 0, output_tokens=usage.completion_tokens or 0)


def body_of(answer: object) -> Json | None:
    """Return the JSON object that a server answered with, whatever it called it; else ``None``."""
    if isinstance(answer, str):  # the client's word for: it was not declared as JSON
        try:
            answer = json.loads(answer)
        except ValueError:
            return None
    return answer if isinstance(answer, dict) else None


def reply_of(completion: Json) -> tuple[ChatReply, str | None]:
    """Return the reply of the first choice, and the refusal if the model gave one."""
    choice: Json = completion["choices"][0]
    message: Json = choice.get("message") or {}
    calls = tuple(
        ToolCall(
            id=call.get("id") or "",
            name=call["function"]["name"],
            arguments=call["function"].get("arguments") or "",
        )
        for call in message.get("tool_calls") or ()
        if call.get("type", "function") == "function"
    )
    used: Json = completion.get("usage") or {}
    reply = ChatReply(
        text=message.get("content") or "",
        finish_reason=choice.get("finish_reason") or "stop",
        usage=Usage(
            input_tokens=used.get("prompt_tokens") or 0,
            output_tokens=used.get("completion_tokens") or 0,
        ),
        tool_calls=calls,
    )
    return reply, message.get("refusal")


@dataclass
class StreamedReply:
    """A reply that is put together from the pieces of a stream."""

    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)  # id, name, arguments
    _usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    is_empty: bool = True
    """Whether nothing has come yet."""

    def add(self, chunk: ChatCompletionChunk) -> str:
        """Take a piece in and return its text."""
        self.is_empty = False
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.finish_reason = choice.finish_reason or self.finish_reason
        for call in choice.delta.tool_calls or ():
            self._add_call(call)
        self._refusals.append(choice.delta.refusal or "")
        text = choice.delta.content or ""
        self._texts.append(text)
        return text

    def _add_call(self, piece: ChoiceDeltaToolCall) -> None:
        parts = self._calls.setdefault(piece.index, ["", "", ""])
        parts[0] = piece.id or parts[0]
        if piece.function is not None:
            parts[1] = piece.function.name or parts[1]
            parts[2] += piece.function.arguments or ""

    @property
    def refusal(self) -> str | None:
        """The model's refusal, if it gave one."""
        return "".join(self._refusals) or None

    def whole(self) -> ChatReply:
        """Return the reply, once the stream has ended."""
        return ChatReply(
            text="".join(self._texts),
            finish_reason=self.finish_reason or "stop",
            usage=self._usage,
            tool_calls=tuple(
                ToolCall(id=parts[0], name=parts[1], arguments=parts[2])
                for _, parts in sorted(self._calls.items())
            ),
        )
