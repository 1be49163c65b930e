"""What became of test cases, for a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from holodeck.lib.test_runner.scores import CaseResult, RunResult

__all__ = ["case_line", "tables"]

WIDTH = 80
NAME_WIDTH = 22
"""Cells that the name of a case may take at most where columns are many."""
GAP = 3
"""Cells between two columns."""


def case_line(case: CaseResult) -> str:
    """Return the line that is said when a case is done."""
    from holodeck.lib.test_runner.reporters.tables import why_not

    reasons = why_not(case)
    more = f": {'; '.join(reasons)}" if reasons else ""
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
        yield from _tables(heads, case_rows(run), words=2, first=len(run.labels))
        yield summary(run)
        yield from spent_lines(run)
    if len(runs) > 1:
        variants = [run.variant for run in runs]
        yield from _tables(["", *variants], comparison_rows(runs), words=1, first=len(runs))


def _tables(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int, first: int
) -> Iterator[str]:
    """Yield a table, or several with the same first columns where it would be too wide.

    Args:
        head: The columns' heads.
        rows: Their cells.
        words: So many of the first columns are words; the others are numbers, never broken.
        first: So many numbers belong together.
    """
    widths = [
        max(map(len, "\n".join(cells).split("\n"))) + GAP for cells in zip(head, *rows, strict=True)
    ]
    room = WIDTH + GAP - sum(min(width, NAME_WIDTH + GAP) for width in widths[:words])
    numbers = range(words, len(head))
    if sum(widths[words:]) <= room:
        groups = [list(numbers)]
    else:
        groups = [
            group
            for part in (numbers[:first], numbers[first:])
            for group in _fitting(part, widths, room)
        ]
    for group in groups:
        columns = [*range(words), *group]
        chosen = [[row[at] for at in columns] for row in rows]
        yield _table([head[at] for at in columns], chosen, words=words)


def _fitting(columns: Sequence[int], widths: Sequence[int], room: int) -> list[list[int]]:
    """Return the columns in groups that fit side by side."""
    groups: list[list[int]] = []
    left = 0
    for column in columns:
        if not groups or widths[column] > left:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= widths[column]
    return groups


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(head):
        is_name = number == words - 1
        side: Literal["left", "right"] = "left" if number < words else "right"
        table.add_column(Text(name), justify=side, overflow="fold", no_wrap=not is_name)
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    paper = io.StringIO()
    Console(file=paper, width=WIDTH, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in paper.getvalue().splitlines()).strip("\n")
