"""Records → the text tables that prompts hold, in the library's form."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from holodeck.lib.contracts import CommunityContext, ContextReport
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["TokenCounts", "report_batch", "report_context", "report_rows", "table_text"]


class TokenCounts:
    """Tokens of lines that contexts are made of; each line is counted once.

    Args:
        known: Table → row → tokens of its line, counted beforehand.
    """

    def __init__(self, known: Mapping[str, Mapping[int, int] | NDArray[np.int32]] | None = None):
        self._known = known or {}
        self._counts: dict[tuple[str, int], tuple[str, int]] = {}

    def known(self, table: str) -> Mapping[int, int] | NDArray[np.int32] | None:
        """Return row → tokens of a table that was counted beforehand."""
        return self._known.get(table)

    def of(self, table: str, row: int, line: str) -> int:
        """Return the tokens of ``line``, which stands for a row of a table."""
        kept = self._counts.get((table, row))
        if kept is None or kept[0] != line:
            kept = (line, count_tokens(line))
            self._counts[table, row] = kept
        return kept[1]


def report_context(community: CommunityContext) -> str:
    """Return the data section of a report prompt, with one line for each record."""
    sections = []
    if community.sub_reports:
        rows = [(r.number, _line(r.content)) for r in community.sub_reports]
        sections.append("----Reports-----\n" + _csv(("community", "full_content"), rows))
    if community.entities:
        nodes = [(e.number, e.title, _line(e.description), e.degree) for e in community.entities]
        header = ("human_readable_id", "title", "description", "degree")
        sections.append("-----Entities-----\n" + _csv(header, nodes))
    if community.relationships:
        edges = [
            (r.number, r.source, r.target, _line(r.description)) for r in community.relationships
        ]
        header = ("human_readable_id", "source", "target", "description")
        sections.append("-----Relationships-----\n" + _csv(header, edges))
    return "\n\n".join(sections)


def report_batch(reports: Iterable[ContextReport], *, header: bool = True) -> str:
    """Return the data section of a map prompt."""
    rows = [(r.number, r.title, r.content, r.rank) for r in reports]
    columns = ("id", "title", "content", "rank") if header else ()
    return _csv(columns, rows, delimiter="|")


def report_rows(reports: Iterable[ContextReport]) -> str:
    """Return the reports of a local context as rows under their header."""
    rows = [(r.number, r.title, r.content) for r in reports]
    return _csv(("id", "title", "content"), rows, delimiter="|")


def table_text(name: str, header: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table of a local context: its rows are lines already."""
    return f"-----{name}-----\n{'|'.join(header)}\n{''.join(rows)}"


def _line(text: str) -> str:
    """Return a text that cannot begin a line of a prompt."""
    return " ".join(text.split())


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
