"""Communities → a report each, finest level first, so that a broad one can build on fine ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from holodeck.errors import HolodeckError, IndexingError
from holodeck.lib.contracts import (
    CommunityContext,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    Report,
)
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.build import Build, map_bounded
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.tokens import count_tokens

__all__ = ["report_text", "write_reports"]

MAX_INPUT_TOKENS = 8000
"""Greatest length of what a report is written from."""

_REFERENCE = re.compile(r"\b(Entities|Relationships|Reports)\s*\(([^()]*)\)")

Row = Mapping[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class _Numbered:
    """A context whose records are numbered 1..n, and what the numbers stand for in the tables."""

    context: CommunityContext
    tables: Mapping[str, Sequence[int]]


async def write_reports(build: Build) -> None:
    """Write ``community_reports`` from ``communities``, ``entities`` and ``relationships``."""
    communities = read_rows(build.output, "communities")
    entities = {row["id"]: row for row in read_rows(build.output, "entities")}
    edges = {row["id"]: row for row in read_rows(build.output, "relationships")}
    written: dict[int, tuple[Report, dict[str, Any]]] = {}
    for level in sorted({row["level"] for row in communities}, reverse=True):
        rows = [row for row in communities if row["level"] == level]
        write = partial(_write, build, entities, edges, written)
        results = await map_bounded(write, rows, build, f"reports of level {level}")
        written |= {row["community"]: result for row, result in zip(rows, results, strict=True)}
    write_rows(
        build.output, "community_reports", [written[number][1] for number in sorted(written)]
    )


async def _write(
    build: Build,
    entities: Mapping[str, Row],
    edges: Mapping[str, Row],
    written: Mapping[int, tuple[Report, dict[str, Any]]],
    community: Row,
) -> tuple[Report, dict[str, Any]]:
    numbered = _context(community, entities, edges, written)
    report = await _ask(build, community, numbered.context)
    return report, _row(community, report, numbered.tables)


async def _ask(build: Build, community: Row, context: CommunityContext) -> Report:
    try:
        return await build.steps.report(context)
    except HolodeckError as error:
        raise IndexingError(
            f"the report of community {community['community']} could not be written: {error}. "
            "What was paid for is kept: run 'holodeck index' again to go on"
        ) from error


def _context(
    community: Row,
    entities: Mapping[str, Row],
    edges: Mapping[str, Row],
    written: Mapping[int, tuple[Report, dict[str, Any]]],
) -> _Numbered:
    members = sorted(
        (entities[key] for key in community["entity_ids"]), key=lambda r: (-r["degree"], r["id"])
    )
    inside = sorted(
        (edges[key] for key in community["relationship_ids"]),
        key=lambda r: (-r["combined_degree"], -r["weight"], r["id"]),
    )
    size = sum(count_tokens(row["description"]) for row in (*members, *inside))
    finer = [written[child] for child in community["children"] if child in written]
    if size > MAX_INPUT_TOKENS and finer:
        return _of_reports(finer)
    return _of_records(members, inside)


def _of_reports(finer: Sequence[tuple[Report, dict[str, Any]]]) -> _Numbered:
    kept = _within_budget([(pair, report_text(pair[0])) for pair in finer])
    reports = tuple(
        ContextReport(
            number=number,
            title=report.title,
            content=report_text(report),
            rank=report.rating,
            summary=report.summary,
        )
        for number, (report, _) in enumerate(kept, start=1)
    )
    return _Numbered(
        context=CommunityContext(entities=(), relationships=(), sub_reports=reports),
        tables={"Reports": [row["community"] for _, row in kept]},
    )


def _of_records(members: Sequence[Row], inside: Sequence[Row]) -> _Numbered:
    """Take relationships, best first, and their ends, then the rest, while they fit."""
    ranked: list[tuple[tuple[str, Row], str]] = []
    by_title = {row["title"]: row for row in members}
    taken: set[str] = set()
    for edge in inside:
        for title in (edge["source"], edge["target"]):
            if title not in taken:
                taken.add(title)
                ranked.append((("entity", by_title[title]), by_title[title]["description"]))
        ranked.append((("edge", edge), edge["description"]))
    ranked += [
        (("entity", row), row["description"]) for row in members if row["title"] not in taken
    ]
    kept = _within_budget(ranked)
    nodes = [row for kind, row in kept if kind == "entity"]
    links = [row for kind, row in kept if kind == "edge"]
    return _Numbered(
        context=CommunityContext(
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
                for number, row in enumerate(links, start=1)
            ),
        ),
        tables={
            "Entities": [row["human_readable_id"] for row in nodes],
            "Relationships": [row["human_readable_id"] for row in links],
        },
    )


def _within_budget(ranked: Sequence[tuple[Item, str]]) -> list[Item]:
    kept: list[Item] = []
    left = MAX_INPUT_TOKENS
    for item, text in ranked:
        left -= count_tokens(text)
        if left < 0 and kept:
            break
        kept.append(item)
    return kept


def report_text(report: Report) -> str:
    """Return a report as one Markdown text: title, summary, a section for each finding."""
    sections = "\n\n".join(f"## {f.summary}\n\n{f.explanation}" for f in report.findings)
    return f"# {report.title}\n\n{report.summary}\n\n{sections}".rstrip()


def _row(community: Row, report: Report, tables: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the row of a report, its references rewritten to the numbers of the tables."""

    def rewritten(text: str) -> str:
        return _REFERENCE.sub(lambda match: _renumber(match, tables), text)

    findings = [
        {"summary": rewritten(f.summary), "explanation": rewritten(f.explanation)}
        for f in report.findings
    ]
    content = rewritten(report_text(report))
    return {
        **{key: community[key] for key in ("community", "level", "parent", "children", "size")},
        "id": content_id("report", community["id"]),
        "human_readable_id": community["community"],
        "title": report.title,
        "summary": rewritten(report.summary),
        "full_content": content,
        "rank": report.rating,
        "rating_explanation": rewritten(report.rating_explanation),
        "findings": findings,
        "full_content_json": json.dumps(
            {**asdict(report), "summary": rewritten(report.summary), "findings": findings},
            ensure_ascii=False,
            indent=4,
        ),
        "period": "",
    }


def _renumber(match: re.Match[str], tables: Mapping[str, Sequence[int]]) -> str:
    numbers = tables.get(match.group(1), ())

    def one(text: str) -> str:
        bare = text.strip()
        known = bare.isdigit() and 1 <= int(bare) <= len(numbers)
        return str(numbers[int(bare) - 1]) if known else bare

    return f"{match.group(1)} ({', '.join(one(part) for part in match.group(2).split(','))})"
