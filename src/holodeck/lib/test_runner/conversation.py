"""A conversation with an agent, turn by turn."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from holodeck.lib.contracts import MeterRow
from holodeck.lib.meter import Meter, accounted
from holodeck.lib.questions import check_question
from holodeck.lib.spending import summed
from holodeck.lib.test_runner.agent_tools import AgentTool
from holodeck.lib.test_runner.turns import Event, ToolUse, Turn, TurnDone

__all__ = ["Conversation"]


class Conversation(ABC):
    """What one user and the agent say to each other.

    A turn that fails or is cancelled leaves the conversation as it was before; the next one goes on
    from there. One turn at a time.

    Args:
        tools: What the agent may call.

    Attributes:
        turns: Those that were finished.
        agent_meter: What was asked of the agent's own model in the turn that began last.
    """

    def __init__(self, tools: Sequence[AgentTool]) -> None:
        self.tools: Mapping[str, AgentTool] = {tool.name: tool for tool in tools}
        self.turns: list[Turn] = []
        self.agent_meter = Meter()
        self._tools_spent: list[MeterRow] = []

    async def stream(self, question: str) -> AsyncGenerator[Event, None]:
        """Answer, event by event; the last is ``TurnDone``. Close the generator to cancel.

        Raises:
            EmptyQueryError: There is no question.
            NotInitializedError: The index of a tool that is called was not opened.
            ProviderError: The agent's model could not be made to answer.
        """
        began = time.monotonic()
        self.agent_meter, self._tools_spent = Meter(), []
        check_question(question)
        async with aclosing(self._events(question)) as events:
            async for event in events:
                if isinstance(event, TurnDone):
                    turn = replace(event.turn, seconds=time.monotonic() - began)
                    self.turns.append(turn)
                    yield TurnDone(turn=turn)
                else:
                    yield event

    async def ask(self, question: str) -> Turn:
        """Answer; raises what ``stream`` raises."""
        async with aclosing(self.stream(question)) as events:
            async for event in events:
                if isinstance(event, TurnDone):
                    return event.turn
        raise AssertionError("a turn ended without its last event")

    @property
    def last_spent(self) -> tuple[MeterRow, ...]:
        """What the turn that began last took so far, also one that failed or was cancelled."""
        return summed([*self.agent_meter.rows(), *self._tools_spent])

    async def _use(
        self,
        tool: AgentTool,
        arguments: Mapping[str, Any] | str,  # Any: JSON
    ) -> ToolUse:
        """Call a tool, and keep account of what it asks of models of its own."""
        began = time.monotonic()
        spent = self._tools_spent
        with accounted() as meter:
            try:
                use = await tool.call(arguments)
            finally:
                spent += meter.rows()
        return replace(use, spent=meter.rows(), seconds=time.monotonic() - began)

    def reset(self) -> None:
        """Forget what was said."""
        self.turns.clear()

    @abstractmethod
    def _events(self, question: str) -> AsyncGenerator[Event, None]:
        """Answer, event by event."""
