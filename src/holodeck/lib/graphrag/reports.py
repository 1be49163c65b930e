"""Communities → a report each, finest level first, so that a broad one can build on fine ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from holodeck.errors import HolodeckError, IndexingError
from holodeck.lib.contracts import Failure, Finding, Report
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.build import Build, map_after
from holodeck.lib.graphrag.community_context import (
    MAX_INPUT_TOKENS,
    Finer,
    NumberedContext,
    community_context,
    report_text,
)
from holodeck.lib.graphrag.failures import KEPT, MEND, failure_of, summed_up
from holodeck.lib.graphrag.kept_report import KeptReport
from holodeck.lib.graphrag.quoted_report import quoted_report
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.graphrag.write_context import report_context
from holodeck.lib.indexes.step_memo import memo_key
from holodeck.lib.tokens import is_longer_than

__all__ = ["MAX_INPUT_TOKENS", "report_text", "write_reports"]

# Without a look for the beginning of the word, which would take half of the time.
_REFERENCE = re.compile(r"(Entities|Relationships|Reports)\s*\(([^()]*)\)")

_OF_ENTITY = ("title", "type", "description", "degree")
_OF_EDGE = ("source", "target", "description", "weight")
"""What a report is told of a record."""

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Written:
    """A report as the model wrote it, its references those of its prompt.

    Attributes:
        titles: The entities of its community.
        row: Of the table, its references those of the tables.
        local_text: What is embedded: its references are those of the prompt, so that it stays the
            same while the tables are numbered anew.
    """

    report: Report
    titles: frozenset[str]
    row: dict[str, Any]  # Any: a row
    local_text: str

    @cached_property
    def mark(self) -> str:
        """What tells it from another as a part of a broader one."""
        return memo_key("told", self.local_text, str(self.report.rating), *sorted(self.titles))

    @property
    def as_finer(self) -> Finer:
        """It as a part of a broader one."""
        return Finer(number=self.row["community"], report=self.report, titles=self.titles)


class _Graph:
    """The records that communities are of.

    Attributes:
        entity_marks: Id → what tells what a report says of an entity from what it said before.
        edge_marks: The same of relationships.
    """

    def __init__(self, folder: Path) -> None:
        self._entities = {row["id"]: row for row in read_rows(folder, "entities")}
        self._edges = {row["id"]: row for row in read_rows(folder, "relationships")}
        self.entity_marks = {key: _mark(row, _OF_ENTITY) for key, row in self._entities.items()}
        self.edge_marks = {key: _mark(row, _OF_EDGE) for key, row in self._edges.items()}

    def members(self, community: Row) -> list[Row]:
        """Return the entities of a community, best first."""
        rows = (self._entities[key] for key in community["entity_ids"])
        return sorted(rows, key=lambda row: (-row["degree"], row["id"]))

    def inside(self, community: Row) -> list[Row]:
        """Return its relationships, best first."""
        rows = (self._edges[key] for key in community["relationship_ids"])
        return sorted(rows, key=lambda row: (-row["combined_degree"], -row["weight"], row["id"]))


def _mark(row: Row, columns: Sequence[str]) -> str:
    return memo_key("record", *(str(row[column]) for column in columns))


async def write_reports(build: Build) -> None:
    """Write ``community_reports`` from ``communities``, ``entities`` and ``relationships``.

    A report that cannot be written is left out and counted: no fact is lost by it.

    Raises:
        IndexingError: There are communities, and no report of any could be written.
    """
    communities = read_rows(build.output, "communities")
    graph = _Graph(build.output)
    written: dict[int, _Written] = {}
    finest_first = sorted(communities, key=lambda row: (-row["level"], row["community"]))
    place = {row["community"]: index for index, row in enumerate(finest_first)}

    async def write(row: Row) -> Failure | None:
        result = await _write(build, graph, written, row)
        if isinstance(result, Failure):
            return result
        written[row["community"]] = result
        build.embedding.add("community_full_content", [(result.row["id"], result.local_text)])
        return None

    results = await map_after(
        write,
        finest_first,
        [[place[child] for child in row["children"]] for row in finest_first],
        build,
        "reports",
    )
    missing = [failure for failure in results if failure is not None]
    _account(build, written, missing)
    write_rows(
        build.output, "community_reports", [written[number].row for number in sorted(written)]
    )


def _account(build: Build, written: Mapping[int, _Written], missing: Sequence[Failure]) -> None:
    for each in written.values():
        build.repairs.update(f"report: {repair}" for repair in each.report.repairs)
    build.counts["reports_missing"] = len(missing)
    if not missing:
        return
    total = len(written) + len(missing)
    said = f"{len(written)} of {total} reports built: {summed_up(missing)}"
    if not written:
        raise IndexingError(
            f"{said}. Without any, no question about the whole can be answered, so nothing was "
            f"published. {KEPT}: run 'holodeck index' again, or choose another indexing_model"
        )
    build.failures.extend(missing)
    build.warnings.append(f"{said}. {MEND}")


async def _write(
    build: Build, graph: _Graph, written: Mapping[int, _Written], community: Row
) -> _Written | Failure:
    members, inside = graph.members(community), graph.inside(community)
    finer = [written[child] for child in community["children"] if child in written]
    numbers = {
        "Reports": [each.row["community"] for each in finer],
        "Entities": [row["human_readable_id"] for row in members],
        "Relationships": [row["human_readable_id"] for row in inside],
    }

    async def tell() -> KeptReport | Failure:
        numbered = community_context(members, inside, [each.as_finer for each in finer])
        place = f"community {community['community']} of "
        place += ", ".join(row["title"] for row in members[:3])
        told = await _told(build, numbered, place)
        return told if isinstance(told, Failure) else KeptReport.of(told, numbered.tables, numbers)

    key = memo_key(
        "report",
        *(each.mark for each in finer),
        "of",
        *(graph.entity_marks[row["id"]] for row in members),
        "and",
        *(graph.edge_marks[row["id"]] for row in inside),
    )
    kept = await build.memo.asked(key, tell, _remembered, KeptReport.from_json)
    if isinstance(kept, Failure):
        return kept
    return _Written(
        report=kept.report,
        titles=frozenset(row["title"] for row in members),
        row=_row(community, kept.report, kept.shown(numbers)),
        local_text=report_text(kept.report),
    )


def _remembered(found: KeptReport | Failure) -> dict[str, Any] | None:  # Any: JSON
    return None if isinstance(found, Failure) else found.to_json()


async def _told(build: Build, numbered: NumberedContext, place: str) -> Report | Failure:
    """Return the report of what is shown of a community, or why there is none."""
    if _is_short(numbered, build.report_threshold):
        return quoted_report(numbered.context)
    if build.known_failures:
        known = build.known_failures.get(("report", _key(numbered)))
        if known is not None:
            return replace(known, place=place)
    try:
        return await build.steps.report(numbered.context)
    except HolodeckError as error:
        return failure_of(error, "report", _key(numbered), place)


def _is_short(numbered: NumberedContext, threshold: int) -> bool:
    if not threshold or numbered.context.sub_reports:
        return False
    return not is_longer_than(report_context(numbered.context), threshold)


def _key(numbered: NumberedContext) -> str:
    return content_id("report", report_context(numbered.context))


def _row(community: Row, report: Report, tables: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the row of a report, its references rewritten to the numbers of the tables."""

    def rewritten(text: str) -> str:
        return _REFERENCE.sub(lambda match: _renumber(match, tables), text)

    told = replace(
        report,
        summary=rewritten(report.summary),
        rating_explanation=rewritten(report.rating_explanation),
        findings=tuple(
            Finding(summary=rewritten(f.summary), explanation=rewritten(f.explanation))
            for f in report.findings
        ),
    )
    findings = [{"summary": f.summary, "explanation": f.explanation} for f in told.findings]
    return {
        **{key: community[key] for key in ("community", "level", "parent", "children", "size")},
        "id": content_id("report", community["id"]),
        "human_readable_id": community["community"],
        "title": report.title,
        "summary": told.summary,
        "full_content": report_text(replace(told, title=rewritten(report.title))),
        "rank": report.rating,
        "rating_explanation": told.rating_explanation,
        "findings": findings,
        "full_content_json": json.dumps(
            {
                "title": report.title,
                "summary": told.summary,
                "findings": findings,
                "rating": report.rating,
                "rating_explanation": told.rating_explanation,
            },
            ensure_ascii=False,
        ),
        "period": "",
    }


def _renumber(match: re.Match[str], tables: Mapping[str, Sequence[int]]) -> str:
    before = match.string[max(match.start() - 1, 0) : match.start()]
    if before.isalnum() or before == "_":
        return match.group()  # the end of another word
    numbers = tables.get(match.group(1), ())

    def one(text: str) -> str:
        bare = text.strip()
        known = bare.isdigit() and 1 <= int(bare) <= len(numbers)
        return str(numbers[int(bare) - 1]) if known else bare

    return f"{match.group(1)} ({', '.join(one(part) for part in match.group(2).split(','))})"
