"""What a model says, as a text that every encoding can write."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

from holodeck.lib.contracts import ChatDelta, ChatModel, ChatReply, ChatRequest, ToolCall
from holodeck.lib.streams import closing_stream
from holodeck.lib.whole_text import well_formed

__all__ = ["WellFormed"]

_FIRST_HALF = re.compile("[\ud800-\udbff]\\Z")
_ESCAPED_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


class WellFormed(ChatModel):
    """Hand on what a model says, halves of characters mended as they arrive.

    Servers that count in UTF-16 cut between the halves of an emoji, and models escape one alone;
    no file can be written with it, and no server takes it back.
    """

    def __init__(self, model: ChatModel) -> None:
        self.provider = model.provider
        self.name = model.name
        self._model = model

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request."""
        return _mended(await self._model.complete(request))

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece; the first half of a character waits for the second."""
        waiting = ""
        async with closing_stream(self._model.stream(request)) as deltas:
            async for delta in deltas:
                text, waiting = waiting + delta.text, ""
                if delta.reply is None and _FIRST_HALF.search(text):
                    text, waiting = text[:-1], text[-1]
                reply = None if delta.reply is None else _mended(delta.reply)
                if text or reply is not None:
                    yield ChatDelta(text=well_formed(text), reply=reply)

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        """Tell the model."""
        self._model.expect(prompt_tokens, answer_tokens)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _mended(reply: ChatReply) -> ChatReply:
    calls = tuple(_mended_call(call) for call in reply.tool_calls)
    return replace(reply, text=well_formed(reply.text), tool_calls=calls)


def _mended_call(call: ToolCall) -> ToolCall:
    arguments = call.arguments
    if _ESCAPED_HALF.search(arguments):
        with suppress(ValueError):  # no JSON: the tool says so, and quotes it as it stands
            arguments = json.dumps(json.loads(arguments), ensure_ascii=False)
    return replace(call, name=well_formed(call.name), arguments=well_formed(arguments))
