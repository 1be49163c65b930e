"""What a turn did, in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from holodeck.lib.spending import said_spent, total

if TYPE_CHECKING:
    from holodeck.lib.test_runner.turns import ToolCalled, ToolUse, Turn

__all__ = ["answered_line", "called_line", "sources_lines", "spent_lines"]

_LONGEST = 100


def called_line(event: ToolCalled) -> str:
    """Return the line for a call: ``[knowledge] query: Who …?``."""
    arguments = ", ".join(f"{name}: {value}" for name, value in event.arguments.items())
    return f"[{event.name}] {_short(arguments)}".rstrip()


def answered_line(use: ToolUse) -> str:
    """Return the line for an answer: what was found, or why nothing."""
    if use.failed:
        why = use.text.removeprefix(f"{use.name} failed: ")
        return f"[{use.name}] failed: {_short(why)}"
    if use.sources:
        places = list(dict.fromkeys(str(source) for source in use.sources))
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        return f"[{use.name}] found in {', '.join(places[:3])}{more}"
    return f"[{use.name}] {_short(use.text)}"


def spent_lines(turn: Turn) -> Iterator[str]:
    """Yield what the turn took, and how much of it its tools did."""
    if not turn.spent:
        yield f"({turn.seconds:.1f} s, no model was asked)"
        return
    yield f"({said_spent(total(turn.spent))}, {turn.seconds:.1f} s)"
    if turn.tools_spent:
        yield f"(of these its tools: {said_spent(total(turn.tools_spent))})"


def sources_lines(turn: Turn | None) -> Iterator[str]:
    """Yield every place that the last answer stands on, numbered."""
    if turn is None:
        yield "nothing was asked yet"
        return
    places = list(dict.fromkeys(str(source) for source in turn.sources))
    if not places:
        yield "the last answer stands on no document"
    for number, place in enumerate(places, start=1):
        yield f"{number}. {place}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
