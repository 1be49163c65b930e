"""What the tables of a run say, for every form that has tables."""

from __future__ import annotations

from collections.abc import Sequence

from holodeck.lib.test_runner.scores import CaseResult, RunResult

__all__ = ["case_rows", "comparison_rows", "summary", "why_not"]


def summary(run: RunResult) -> str:
    """Return the run in one line: ``8 of 10 passed, 2 failed``."""
    parts = [f"{run.count('passed')} of {len(run.cases)} passed"]
    parts += [
        f"{count} {verdict}"
        for verdict in ("failed", "error", "unjudged", "reported", "not run")
        if (count := run.count(verdict))
    ]
    return ", ".join(parts)


def case_rows(run: RunResult) -> list[list[str]]:
    """Return a row for each case: verdict, name, each metric's value, seconds."""
    return [
        [
            case.verdict,
            case.name,
            *[_value(case.value(label)) for label in run.labels],
            f"{case.seconds:.1f}",
        ]
        for case in run.cases
    ]


def comparison_rows(runs: Sequence[RunResult]) -> list[list[str]]:
    """Return a row for each measure, with one column a run."""
    labels = dict.fromkeys(label for run in runs for label in run.labels)
    return [
        ["passed", *[f"{run.count('passed')} of {len(run.cases)}" for run in runs]],
        *[[label, *[_value(run.mean(label)) for run in runs]] for label in labels],
        ["tokens in", *[f"{run.tokens[0]:,}" for run in runs]],
        ["tokens out", *[f"{run.tokens[1]:,}" for run in runs]],
        ["seconds a case", *[f"{_mean_seconds(run):.2f}" for run in runs]],
    ]


def why_not(case: CaseResult) -> list[str]:
    """Return why a case did not pass: its error, and every score that is no pass."""
    reasons = []
    for turn in case.turns:
        if turn.error is not None:
            reasons.append(turn.error)
        reasons += [
            f"{score.label} {_value(score.value)}"
            + (f" < {score.threshold:g}" if score.verdict == "failed" else "")
            + (f": {score.reason}" if score.reason else "")
            for score in turn.scores
            if score.verdict in ("failed", "unjudged")
        ]
    return reasons


def _mean_seconds(run: RunResult) -> float:
    done = [case.seconds for case in run.cases if case.turns]
    return sum(done) / len(done) if done else 0.0


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
