"""What the report of a community is written from: as much of it as fits, the best first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holodeck.lib.contracts import (
    CommunityContext,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    Report,
)
from holodeck.lib.tokens import count_tokens, cut_to_tokens

__all__ = ["MAX_INPUT_TOKENS", "Finer", "NumberedContext", "community_context", "report_text"]

MAX_INPUT_TOKENS = 8000
"""Greatest length of what a report is written from, headers and all."""

# Numbers in a finer report are those of its own prompt: in another they would name other records.
_REFERENCE = re.compile(r"\s*\[Data:[^\]]*\]")
# The headers of three sections, and what the quotes and commas of a line may add.
_HEADERS = 60
_LINE = 8
_MISSES = 20
"""Records that do not fit, after which no shorter one is looked for."""

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Finer:
    """The report of a sub-community.

    Attributes:
        number: Of the sub-community.
        titles: Its entities.
    """

    number: int
    report: Report
    titles: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class NumberedContext:
    """A context whose records are numbered 1..n, and what the numbers stand for in the tables."""

    context: CommunityContext
    tables: Mapping[str, Sequence[int]]


@dataclass(kw_only=True)
class _Chosen:
    """What is in the context so far, and the tokens that are left for more.

    Attributes:
        left: Tokens; ``None`` where everything fits, so that nothing needs to be counted.
    """

    left: int | None
    reports: list[tuple[str, Finer]] = field(default_factory=list)
    entities: dict[str, Row] = field(default_factory=dict)
    edges: list[Row] = field(default_factory=list)

    def fits(self, *texts: str) -> bool:
        """Take the tokens of lines with these texts, if there are so many left."""
        if self.left is None:
            return True
        needed = sum(_tokens(text) + _LINE for text in texts)
        if needed > self.left:
            return False
        self.left -= needed
        return True


def community_context(
    members: Sequence[Row], inside: Sequence[Row], finer: Sequence[Finer]
) -> NumberedContext:
    """Return what a report is written from.

    The whole community where it fits; else the reports of its sub-communities first, and of the
    records those that no such report tells of, as far as they fit.

    Args:
        members: Its entities, best first.
        inside: Its relationships, best first.
        finer: The reports of its sub-communities.
    """
    most = sum(_most_tokens(_entity_text(row)) for row in members)
    most += sum(_most_tokens(_edge_text(row)) for row in inside)
    budget = MAX_INPUT_TOKENS - _HEADERS
    whole = _Chosen(left=None if most <= budget else budget)
    if _take_records(whole, members, inside) or not finer:
        return _numbered(whole)
    mixed = _Chosen(left=MAX_INPUT_TOKENS - _HEADERS)
    for sub in sorted(finer, key=lambda each: (-each.report.rating, each.number)):
        text = _REFERENCE.sub("", report_text(sub.report))
        if not mixed.reports:  # one at least, however long it is
            text = _cut(text, MAX_INPUT_TOKENS // 2)
        if mixed.fits(text):
            mixed.reports.append((text, sub))
    told = [sub.titles for _, sub in mixed.reports]
    untold = [
        edge
        for edge in inside
        if not any(edge["source"] in titles and edge["target"] in titles for titles in told)
    ]
    others = [row for row in members if not any(row["title"] in titles for titles in told)]
    _take_records(mixed, others, untold, members)
    return _numbered(mixed)


def _take_records(
    chosen: _Chosen,
    members: Sequence[Row],
    inside: Sequence[Row],
    ends: Sequence[Row] | None = None,
) -> bool:
    """Take relationships with their ends, then the other entities; tell whether all fitted.

    What does not fit is passed over, so that one long record keeps no shorter ones out.
    """
    by_title = {row["title"]: row for row in (ends or members)}
    misses = 0
    for edge in inside:
        new = [by_title[edge[end]] for end in ("source", "target")]
        new = [row for row in new if row["title"] not in chosen.entities]
        if chosen.fits(_edge_text(edge), *(_entity_text(row) for row in new)):
            chosen.edges.append(edge)
            chosen.entities |= {row["title"]: row for row in new}
        elif (misses := misses + 1) >= _MISSES:
            break
    passed_over = misses
    for row in members:
        if row["title"] in chosen.entities:
            continue
        if chosen.fits(_entity_text(row)):
            chosen.entities[row["title"]] = row
        elif (misses := misses + 1) >= passed_over + _MISSES:
            break
    if not chosen.entities and not chosen.reports:
        _take_beginning(chosen, members[0])
    return misses == 0


def _take_beginning(chosen: _Chosen, row: Row) -> None:
    """Where not even one record fits, take the beginning of the first."""
    room = (chosen.left or 0) - _most_tokens(row["title"])
    chosen.entities[row["title"]] = {**row, "description": _cut(row["description"], room)}


def _cut(text: str, room: int) -> str:
    """Return the beginning of a text that takes no more tokens than this in a line."""
    cut, target = text, room
    while (size := _tokens(cut)) > room:
        target = min(target, target * room // size) - 1
        cut = cut_to_tokens(text, max(target, 1))
    return cut


def _tokens(text: str) -> int:
    """Return the tokens of a text as it is sent: on one line, quoted, its delimiters changed."""
    return count_tokens(" ".join(text.split()).replace('"', '""')) + text.count("|")


def _most_tokens(text: str) -> int:
    """Return what a line with this text is at most: a token has a byte at least."""
    return len(text.encode("utf-8", "surrogatepass")) + text.count('"') + text.count("|") + _LINE


def _entity_text(row: Row) -> str:
    return f"{row['title']},{row['description']}"


def _edge_text(row: Row) -> str:
    return f"{row['source']},{row['target']},{row['description']}"


def _numbered(chosen: _Chosen) -> NumberedContext:
    reports = chosen.reports
    nodes = list(chosen.entities.values())
    context = CommunityContext(
        entities=tuple(
            ContextEntity(
                number=number,
                title=row["title"],
                description=row["description"],
                type=row["type"],
                degree=row["degree"],
            )
            for number, row in enumerate(nodes, start=1)
        ),
        relationships=tuple(
            ContextRelationship(
                number=number,
                source=row["source"],
                target=row["target"],
                description=row["description"],
                weight=row["weight"],
            )
            for number, row in enumerate(chosen.edges, start=1)
        ),
        sub_reports=tuple(
            ContextReport(
                number=number,
                title=sub.report.title,
                content=text,
                rank=sub.report.rating,
                summary=sub.report.summary,
            )
            for number, (text, sub) in enumerate(reports, start=1)
        ),
    )
    tables = {
        "Reports": [sub.number for _, sub in reports],
        "Entities": [row["human_readable_id"] for row in nodes],
        "Relationships": [row["human_readable_id"] for row in chosen.edges],
    }
    return NumberedContext(context=context, tables=tables)


def report_text(report: Report) -> str:
    """Return a report as one Markdown text: title, summary, a section for each finding."""
    sections = "\n\n".join(f"## {f.summary}\n\n{f.explanation}" for f in report.findings)
    return f"# {report.title}\n\n{report.summary}\n\n{sections}".rstrip()
