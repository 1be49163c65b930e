"""Our chat models behind pydantic-ai's ``FunctionModel``: the only place where messages are mapped.

So retries, limits, metering, time budgets and keys are those of every other call of the project.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from holodeck.errors import ProviderError
from holodeck.lib.contracts import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    Tool,
    ToolCall,
)
from holodeck.lib.meter import Meter, used
from holodeck.lib.prices import Price
from holodeck.lib.streams import closing_stream
from holodeck.lib.test_runner.agent_tools import read_arguments
from holodeck.models.llm import ModelSettings

__all__ = ["PURPOSE", "UNREADABLE", "ModelBridge"]

PURPOSE = "agent"

UNREADABLE = "unreadable arguments"
"""The one argument of a call whose own arguments were no JSON object: their text."""


class ModelBridge:
    """Asks a chat model what the agent loop wants to know, and counts what it took.

    Args:
        chat: The model.
        settings: Its temperature and greatest reply.
        price: What it costs; ``None``: nobody knows.

    Attributes:
        meter: Counts the answered calls; whoever wants to know of a turn sets a new one before.
    """

    def __init__(self, chat: ChatModel, settings: ModelSettings, price: Price | None) -> None:
        self.name = chat.name
        self._chat = chat
        self._settings = settings
        self._price = price
        self._call_ids: set[str] = set()
        self.meter = Meter()
        self.is_cut = False
        """Whether the last reply came to the end of what a reply may be."""

    def model(self) -> FunctionModel:
        """Return the model as pydantic-ai takes it."""
        return FunctionModel(self._reply, stream_function=self._stream, model_name=self._chat.name)

    async def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        request = self._request(messages, info)
        reply = await self._chat.complete(request)
        self._count(request, reply)
        parts: list[Any] = [TextPart(content=reply.text)] if reply.text else []  # Any: parts
        parts += [
            ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id)
            for call in self._mended(reply.tool_calls)
        ]
        return ModelResponse(parts=parts)

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        request = self._request(messages, info)
        async with closing_stream(self._chat.stream(request)) as deltas:
            async for delta in deltas:
                if delta.text:
                    yield delta.text
                if delta.reply is not None:
                    self._count(request, delta.reply)
                    for number, call in enumerate(self._mended(delta.reply.tool_calls)):
                        yield {number: _tool_delta(call)}

    def _request(self, messages: list[ModelMessage], info: AgentInfo) -> ChatRequest:
        told = [Message(role="system", content=info.instructions)] if info.instructions else []
        said = [turned for message in messages for turned in _messages(message)]
        return ChatRequest(
            messages=(*told, *said),
            purpose=PURPOSE,
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_tokens,
            tools=tuple(
                Tool(
                    name=tool.name,
                    description=tool.description or "",
                    parameters=tool.parameters_json_schema,
                )
                for tool in info.function_tools
            ),
        )

    def _mended(self, calls: Sequence[ToolCall]) -> Iterator[ToolCall]:
        """Yield the calls as the loop and any server take them back.

        Each gets an id that no other call of the conversation has (servers of open models leave
        ids out, or count them from nothing in each reply), and an object for its arguments.
        """
        for call in calls:
            own, number = call.id or "call", len(self._call_ids)
            while own in self._call_ids or not own.strip():
                own, number = f"{call.id}-{number}", number + 1
            self._call_ids.add(own)
            yield replace(call, id=own, arguments=_as_object(call.arguments))

    def _count(self, request: ChatRequest, reply: ChatReply) -> None:
        self.meter.record(
            provider=self._chat.provider,
            model=self._chat.name,
            purpose=PURPOSE,
            usage=used(request, reply),
            price=self._price,
        )
        self.is_cut = reply.finish_reason == "length"
        if not reply.text.strip() and not reply.tool_calls:
            raise ProviderError(
                f"model {self._chat.name!r} gave no answer (finish reason "
                f"{reply.finish_reason!r}): ask again; with 'length', raise max_tokens"
            )


def _as_object(arguments: str) -> str:
    """Return the JSON of an object; what is none stands in one, for the tool to say so."""
    if arguments.strip() in ("", "null"):
        return "{}"
    try:
        read_arguments(arguments)
    except ValueError:
        return json.dumps({UNREADABLE: arguments})
    return arguments


def _tool_delta(call: ToolCall) -> DeltaToolCall:
    return DeltaToolCall(name=call.name, json_args=call.arguments, tool_call_id=call.id)


def _messages(message: ModelMessage) -> Iterator[Message]:
    if isinstance(message, ModelResponse):
        yield _said_by_model(message)
        return
    assert isinstance(message, ModelRequest)
    for part in message.parts:
        match part:
            case SystemPromptPart():
                yield Message(role="system", content=part.content)
            case UserPromptPart(content=str(text)):
                yield Message(role="user", content=text)
            case ToolReturnPart():
                yield Message(
                    role="tool",
                    content=part.model_response_str(),
                    tool_call_id=part.tool_call_id,
                )
            case _:
                kind = type(part).__name__
                raise TypeError(f"the agent loop sent a {kind}, which has no mapping")


def _said_by_model(message: ModelResponse) -> Message:
    text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
    calls = tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )
    return Message(role="assistant", content=text, tool_calls=calls)
