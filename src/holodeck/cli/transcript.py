"""What was said in a conversation at the terminal, and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holodeck.lib.contracts import MeterRow
from holodeck.lib.spending import spent_as_json, summed, unpriced_models
from holodeck.lib.test_runner.turns import Turn, turn_as_json

__all__ = ["Transcript"]


class Transcript:
    """Every question with its answer, or with why there is none.

    Attributes:
        spent: What all of it took, turns that failed or were stopped among them.
    """

    def __init__(self) -> None:
        self.spent: tuple[MeterRow, ...] = ()
        self._turns: list[dict[str, Any]] = []  # Any: JSON

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, turn: Turn) -> None:
        """Keep a turn."""
        self._turns.append(turn_as_json(turn))
        self.spent = summed([*self.spent, *turn.spent])

    def add_unanswered(self, question: str, why: str, spent: Sequence[MeterRow]) -> None:
        """Keep a question that got no answer."""
        self._turns.append({"question": question, "error": why, "spent": spent_as_json(spent)})
        self.spent = summed([*self.spent, *spent])

    def unknown_prices(self, spent: Sequence[MeterRow]) -> list[str]:
        """Return the models of a turn whose price nobody knows, and nobody was told so before."""
        told = unpriced_models(self.spent)
        return [model for model in unpriced_models(spent) if model not in told]

    def as_json(self) -> dict[str, Any]:  # Any: JSON
        """Return it as ``--json`` prints it."""
        return {"turns": self._turns, "spent": spent_as_json(self.spent)}
