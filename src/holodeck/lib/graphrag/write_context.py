"""Records → the text tables that prompts hold, in the library's form."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from holodeck.lib.contracts import CommunityContext, ContextReport

__all__ = ["report_batch", "report_context", "table_text"]


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


def report_batch(reports: Iterable[ContextReport]) -> str:
    """Return the data section of a map prompt."""
    rows = [(r.number, r.title, r.content, r.rank) for r in reports]
    return _csv(("id", "title", "content", "rank"), rows, delimiter="|")


def table_text(name: str, header: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table of a local context: its rows are lines already."""
    return f"-----{name}-----\n{'|'.join(header)}\n{''.join(rows)}"


def _line(text: str) -> str:
    """Return a text that cannot begin a line of a prompt."""
    return " ".join(text.split())


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
