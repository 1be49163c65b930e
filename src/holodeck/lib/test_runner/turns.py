"""What happens in a turn of a conversation, as events while it runs and as a record afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holodeck.lib.contracts import MeterRow
from holodeck.lib.results import Source, source_as_json
from holodeck.lib.spending import spent_as_json, summed

__all__ = [
    "Event",
    "TextPiece",
    "ToolAnswered",
    "ToolCalled",
    "ToolUse",
    "Turn",
    "TurnDone",
    "turn_as_json",
]


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One call of a tool and what came back.

    Attributes:
        name: As YAML names the tool.
        arguments: What it was called with; empty where the model wrote no readable arguments.
        text: What the agent was told.
        failed: Whether ``text`` is the reason why there is no result.
        sources: Where in the documents the result stands; empty for a function.
        context: The text that the tool's own answer was made from, for evaluation.
        spent: What the tool asked of models of its own.
        seconds: Wall time.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON
    text: str
    failed: bool = False
    sources: Sequence[Source] = ()
    context: str = ""
    spent: Sequence[MeterRow] = ()
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question and what the agent made of it.

    Attributes:
        text: The answer; where the turn was stopped, what there was of it.
        tool_uses: In the order of their results.
        agent_spent: What was asked of the agent's own model.
        stopped: Why the turn ended before the agent was done; ``None``: it was.
        notes: What a reader of the answer should know.
        seconds: Wall time.
    """

    question: str
    text: str
    tool_uses: Sequence[ToolUse] = ()
    agent_spent: Sequence[MeterRow] = ()
    stopped: str | None = None
    notes: Sequence[str] = ()
    seconds: float = 0.0

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the tools' results stand, each place once, in order of use."""
        return tuple(dict.fromkeys(source for use in self.tool_uses for source in use.sources))

    @property
    def tools_spent(self) -> tuple[MeterRow, ...]:
        """What the tools asked of models of their own."""
        return summed(row for use in self.tool_uses for row in use.spent)

    @property
    def spent(self) -> tuple[MeterRow, ...]:
        """What was asked of all models: the agent's and those of its tools."""
        return summed([*self.agent_spent, *self.tools_spent])

    @property
    def context(self) -> str:
        """What the answer was made from: the context of every search, else a tool's own text."""
        return "\n\n".join(use.context or use.text for use in self.tool_uses if not use.failed)


@dataclass(frozen=True, kw_only=True)
class TextPiece:
    """A piece of the answer, or of what the model says between two calls of tools."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ToolCalled:
    """A tool begins to work; ``id`` pairs it with its answer."""

    id: str
    name: str
    arguments: Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True, kw_only=True)
class ToolAnswered:
    """A tool is done, or has failed."""

    id: str
    use: ToolUse


@dataclass(frozen=True, kw_only=True)
class TurnDone:
    """The last event of a turn."""

    turn: Turn


Event = TextPiece | ToolCalled | ToolAnswered | TurnDone


def turn_as_json(turn: Turn) -> dict[str, Any]:  # Any: JSON
    """Return a turn as ``--json`` prints it."""
    return {
        "question": turn.question,
        "text": turn.text,
        "stopped": turn.stopped,
        "notes": list(turn.notes),
        "tool_uses": [
            {
                "name": use.name,
                "arguments": dict(use.arguments),
                "failed": use.failed,
                "text": use.text,
                "context": use.context,
                "sources": [source_as_json(source) for source in use.sources],
                "spent": spent_as_json(use.spent),
                "seconds": round(use.seconds, 3),
            }
            for use in turn.tool_uses
        ],
        "sources": [source_as_json(source) for source in turn.sources],
        "spent": spent_as_json(turn.spent),
        "spent_by_agent": spent_as_json(turn.agent_spent),
        "spent_by_tools": spent_as_json(turn.tools_spent),
        "seconds": round(turn.seconds, 3),
    }
