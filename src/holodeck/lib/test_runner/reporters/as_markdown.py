"""A run as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from holodeck.lib.test_runner.reporters.tables import (
    case_columns,
    case_rows,
    comparison_rows,
    spent_lines,
    summary,
    why_not,
)
from holodeck.lib.test_runner.scores import RunResult

__all__ = ["report"]


def report(runs: Sequence[RunResult]) -> str:
    """Return a page: what was compared first, then each run with the reasons of its failures."""
    parts: list[str] = []
    if len(runs) > 1:
        parts.append("# Comparison")
        parts.append(_table(["", *[run.variant for run in runs]], comparison_rows(runs)))
    for run in runs:
        title = f"{run.agent} ({run.variant})" if run.variant else run.agent
        parts += [f"# {_plain(title)}", summary(run), *spent_lines(run)]
        if run.stopped is not None:
            parts.append(f"Stopped: {_plain(run.stopped)}")
        parts.append(_table(case_columns(run), case_rows(run)))
        for case in run.cases:
            reasons = why_not(case)
            if reasons:
                lines = "\n".join(f"- {_plain(reason)}" for reason in reasons)
                parts.append(f"## {_plain(case.name)}\n\n{lines}")
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_plain(cell) for cell in line)} |" for line in lines)


def _plain(text: str) -> str:
    """Keep a text on its line and out of the table's own marks."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
