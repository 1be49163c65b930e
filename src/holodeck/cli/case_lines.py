"""What became of test cases, for a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holodeck.lib.test_runner.scores import CaseResult, RunResult

__all__ = ["case_line", "tables"]

WIDTH = 80


def case_line(case: CaseResult) -> str:
    """Return the line that is said when a case is done."""
    from holodeck.lib.test_runner.reporters.tables import why_not

    reasons = why_not(case)
    more = f": {reasons[0]}" if reasons else ""
    return f"{case.verdict:8} {case.name} ({case.seconds:.1f} s){more}"


def tables(runs: Sequence[RunResult]) -> Iterator[str]:
    """Yield a table of each run, its sum, and, for several, one that compares them."""
    from holodeck.lib.test_runner.reporters.tables import (
        case_columns,
        case_rows,
        comparison_rows,
        spent_lines,
        summary,
    )

    for run in runs:
        if run.variant:
            yield f"{run.variant}:"
        # A wide head would take the room of the cases' names.
        heads = [re.sub("[_ ]", "\n", name) for name in case_columns(run)]
        yield _table(heads, case_rows(run), words=2)
        yield summary(run)
        yield from spent_lines(run)
    if len(runs) > 1:
        yield _table(["", *[run.variant for run in runs]], comparison_rows(runs), words=1)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """Return a table whose first columns, so many, are words, and whose others are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(Text(name), justify="left" if number < words else "right", overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    paper = io.StringIO()
    Console(file=paper, width=WIDTH, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in paper.getvalue().splitlines()).strip("\n")
