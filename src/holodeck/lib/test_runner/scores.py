"""What judging yields: scores, and the verdicts that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holodeck.lib.contracts import MeterRow
from holodeck.lib.spending import spent_as_json, summed
from holodeck.lib.test_runner.turns import Turn, turn_as_json
from holodeck.models.test_case import CaseTurn

__all__ = ["CaseResult", "RunResult", "Sample", "Score", "TurnResult", "Verdict", "runs_as_json"]

Verdict = Literal["passed", "failed", "error", "unjudged", "reported", "not run"]
"""``error``: the agent gave no answer; ``unjudged``: a judge failed; ``reported``: nothing had a
threshold; ``not run``: the cost cap or an interrupt came first."""

_GRAVEST: tuple[Verdict, ...] = ("not run", "error", "unjudged", "failed", "passed", "reported")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """An answer beside what was expected of it."""

    turn: Turn
    expected: CaseTurn

    @property
    def answer(self) -> str:
        """What the agent said."""
        return self.turn.text


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one metric says of one answer.

    Attributes:
        label: Name of the metric in reports.
        value: 0 to 1; ``None``: it could not be judged.
        threshold: Least value that passes; ``None``: reported only.
        reason: What led to the value.
    """

    label: str
    value: float | None
    threshold: float | None = None
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """What follows from the value."""
        if self.value is None:
            return "unjudged"
        if self.threshold is None:
            return "reported"
        return "passed" if self.value >= self.threshold else "failed"


@dataclass(frozen=True, kw_only=True)
class TurnResult:
    """One question of a case.

    Attributes:
        turn: What the agent did; ``None`` where it gave no answer.
        error: Why there is none.
        failed_after: Seconds that it took to fail.
        spent: What the agent and its tools asked of models, also where there is no answer.
        judge_spent: What judging took.
        cut: Why it ended before its end: the cost cap came first.
    """

    question: str
    turn: Turn | None = None
    error: str | None = None
    failed_after: float = 0.0
    scores: Sequence[Score] = ()
    spent: Sequence[MeterRow] = ()
    judge_spent: Sequence[MeterRow] = ()
    cut: str | None = None

    @property
    def seconds(self) -> float:
        """Wall time of the answer, or until there was none to come."""
        return self.failed_after if self.turn is None else self.turn.seconds

    @property
    def verdict(self) -> Verdict:
        """The gravest of its scores."""
        if self.cut is not None:
            return "not run"
        if self.turn is None:
            return "error"
        return _gravest([score.verdict for score in self.scores])


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What became of a case."""

    name: str
    turns: Sequence[TurnResult] = ()

    @property
    def verdict(self) -> Verdict:
        """The gravest of its turns."""
        return _gravest([turn.verdict for turn in self.turns]) if self.turns else "not run"

    @property
    def cut(self) -> str | None:
        """Why it ended before its end, if the cost cap came first."""
        return next((turn.cut for turn in self.turns if turn.cut is not None), None)

    @property
    def seconds(self) -> float:
        """Wall time of its turns, those without an answer too; judging apart."""
        return sum(turn.seconds for turn in self.turns)

    @property
    def spent(self) -> tuple[MeterRow, ...]:
        """What the agent and its tools asked of models."""
        return summed(row for turn in self.turns for row in turn.spent)

    @property
    def judge_spent(self) -> tuple[MeterRow, ...]:
        """What judging took."""
        return summed(row for turn in self.turns for row in turn.judge_spent)

    def value(self, label: str) -> float | None:
        """Return the mean of a metric over the turns that have it."""
        values = [
            score.value
            for turn in self.turns
            for score in turn.scores
            if score.label == label and score.value is not None
        ]
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What became of all cases, in their order.

    Attributes:
        variant: What was compared: ``engine=graphrag``; empty where nothing was.
        stopped: Why not all cases were run.
    """

    agent: str
    cases: Sequence[CaseResult]
    variant: str = ""
    stopped: str | None = None

    def count(self, verdict: Verdict) -> int:
        """Return how many cases have a verdict."""
        return sum(case.verdict == verdict for case in self.cases)

    def mean(self, label: str) -> float | None:
        """Return the mean of a metric over the cases that have it."""
        found = [value for case in self.cases if (value := case.value(label)) is not None]
        return sum(found) / len(found) if found else None

    @property
    def labels(self) -> tuple[str, ...]:
        """Every metric that was measured, in order of appearance."""
        return tuple(
            dict.fromkeys(
                score.label for case in self.cases for turn in case.turns for score in turn.scores
            )
        )

    @property
    def pass_rate(self) -> float | None:
        """Share of the cases that passed; ``None``: there are none."""
        return self.count("passed") / len(self.cases) if self.cases else None

    @property
    def seconds_a_case(self) -> float | None:
        """Mean wall time of the cases that were run; ``None``: none was."""
        done = [case.seconds for case in self.cases if case.turns]
        return sum(done) / len(done) if done else None

    @property
    def spent(self) -> tuple[MeterRow, ...]:
        """What the agent and its tools asked of models, over all cases."""
        return summed(row for case in self.cases for row in case.spent)

    @property
    def judge_spent(self) -> tuple[MeterRow, ...]:
        """What judging took, over all cases."""
        return summed(row for case in self.cases for row in case.judge_spent)


def _gravest(verdicts: Sequence[Verdict]) -> Verdict:
    return next((each for each in _GRAVEST if each in verdicts), "reported")


def runs_as_json(runs: Sequence[RunResult]) -> dict[str, Any]:  # Any: JSON
    """Return the runs as they are printed, reported and kept."""
    return {"runs": [_run(run) for run in runs]}


def _run(run: RunResult) -> dict[str, Any]:  # Any: JSON
    return {
        "agent": run.agent,
        "variant": run.variant,
        "stopped": run.stopped,
        "counts": {verdict: run.count(verdict) for verdict in _GRAVEST},
        "pass_rate": run.pass_rate,
        "seconds_a_case": run.seconds_a_case,
        "means": {label: run.mean(label) for label in run.labels},
        "spent": spent_as_json(run.spent),
        "judge_spent": spent_as_json(run.judge_spent),
        "cases": [_case(case) for case in run.cases],
    }


def _case(case: CaseResult) -> dict[str, Any]:  # Any: JSON
    return {
        "name": case.name,
        "verdict": case.verdict,
        "seconds": round(case.seconds, 3),
        "spent": spent_as_json(case.spent),
        "judge_spent": spent_as_json(case.judge_spent),
        "turns": [
            {
                "question": turn.question,
                "verdict": turn.verdict,
                "error": turn.error,
                "seconds": round(turn.seconds, 3),
                "answer": None if turn.turn is None else turn_as_json(turn.turn),
                "scores": [
                    {
                        "metric": score.label,
                        "value": score.value,
                        "threshold": score.threshold,
                        "verdict": score.verdict,
                        "reason": score.reason,
                    }
                    for score in turn.scores
                ],
            }
            for turn in case.turns
        ],
    }
