"""What the tables of a run say, for every form that has tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holodeck.lib.contracts import MeterRow
from holodeck.lib.spending import (
    price_hint,
    said_cost,
    said_spent,
    total,
    unpriced_models,
)
from holodeck.lib.test_runner.scores import CaseResult, RunResult

__all__ = ["case_columns", "case_rows", "comparison_rows", "spent_lines", "summary", "why_not"]

SPENT_COLUMNS = ("tokens in", "tokens out", "cost")


def summary(run: RunResult) -> str:
    """Return the run in one line: ``8 of 10 passed, 2 failed``."""
    parts = [f"{run.count('passed')} of {len(run.cases)} passed"]
    parts += [
        f"{count} {verdict}"
        for verdict in ("failed", "error", "unjudged", "reported", "not run")
        if (count := run.count(verdict))
    ]
    return ", ".join(parts)


def spent_lines(run: RunResult) -> Iterator[str]:
    """Yield what the answers took, what judging took, and whose price nobody knows."""
    for who, rows in (("agent", run.spent), ("judge", run.judge_spent)):
        if rows:
            yield f"{who}: {said_spent(total(rows))}"
    unknown = unpriced_models([*run.spent, *run.judge_spent])
    if unknown:
        yield price_hint(unknown)


def case_columns(run: RunResult) -> list[str]:
    """Return the heads of ``case_rows``."""
    return ["verdict", "case", *run.labels, *(SPENT_COLUMNS if run.spent else ()), "seconds"]


def case_rows(run: RunResult) -> list[list[str]]:
    """Return a row for each case: verdict, name, each metric's value, what it took."""
    return [
        [
            case.verdict,
            case.name,
            *[_value(case.value(label)) for label in run.labels],
            *(_spent(case.spent) if run.spent else ()),
            f"{case.seconds:.1f}",
        ]
        for case in run.cases
    ]


def comparison_rows(runs: Sequence[RunResult]) -> list[list[str]]:
    """Return a row for each measure, with one column a run."""
    labels = dict.fromkeys(label for run in runs for label in run.labels)
    spent = [_spent(run.spent) for run in runs]
    return [
        ["passed", *[f"{run.count('passed')} of {len(run.cases)}" for run in runs]],
        ["pass rate", *[_share(run.pass_rate) for run in runs]],
        *[[label, *[_value(run.mean(label)) for run in runs]] for label in labels],
        *[[name, *[each[at] for each in spent]] for at, name in enumerate(SPENT_COLUMNS)],
        ["seconds a case", *[_value(run.seconds_a_case) for run in runs]],
    ]


def _spent(rows: Sequence[MeterRow]) -> tuple[str, str, str]:
    """Return what stands in the columns of what was spent."""
    spent = total(rows)
    return (
        f"{spent.usage.input_tokens:,}",
        f"{spent.usage.output_tokens:,}",
        said_cost(spent),
    )


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def why_not(case: CaseResult) -> list[str]:
    """Return why a case did not pass: its error, and every score that is no pass."""
    reasons = []
    for turn in case.turns:
        reasons += [reason for reason in (turn.error, turn.cut) if reason is not None]
        reasons += [
            f"{score.label} {_value(score.value)}"
            + (f" < {score.threshold:g}" if score.verdict == "failed" else "")
            + (f": {score.reason}" if score.reason else "")
            for score in turn.scores
            if score.verdict in ("failed", "unjudged")
        ]
    return reasons


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
