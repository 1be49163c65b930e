"""An agent without a language model: it asks every search tool and shows what they found."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence

from holodeck.lib.test_runner.agent_tools import AgentTool, SearchFunction
from holodeck.lib.test_runner.conversation import Conversation
from holodeck.lib.test_runner.turns import (
    Event,
    TextPiece,
    ToolAnswered,
    ToolCalled,
    ToolUse,
    Turn,
    TurnDone,
)

__all__ = ["NO_MODEL", "EmbeddedConversation"]

NO_MODEL = "I am not a language model: this is what the tools found, word for word."


class EmbeddedConversation(Conversation):
    """Put each question to every search tool; it stands for itself, without the earlier ones.

    Functions are left out: which of them to call, and with what, only a language model can say.
    """

    def __init__(self, tools: Sequence[AgentTool]) -> None:
        super().__init__([tool for tool in tools if isinstance(tool, SearchFunction)])
        self._left_out = [tool.name for tool in tools if not isinstance(tool, SearchFunction)]

    async def _events(self, question: str) -> AsyncGenerator[Event, None]:
        uses: list[ToolUse] = []
        for number, tool in enumerate(self.tools.values(), start=1):
            arguments = {"query": question}
            yield ToolCalled(id=str(number), name=tool.name, arguments=arguments)
            use = await self._use(tool, arguments)
            uses.append(use)
            yield ToolAnswered(id=str(number), use=use)
        text = self._presented(uses)
        yield TextPiece(text=text)
        yield TurnDone(turn=Turn(question=question, text=text, tool_uses=tuple(uses)))

    def _presented(self, uses: Sequence[ToolUse]) -> str:
        parts = [NO_MODEL]
        parts += [f"{use.name}:\n{use.text}" for use in uses]
        if not uses:
            parts.append(
                "The agent has no tool that searches documents, so there is nothing to show."
            )
        if self._left_out:
            names = ", ".join(json.dumps(name) for name in self._left_out)
            parts.append(f"Not called, since that takes a language model: {names}.")
        return "\n\n".join(parts)
