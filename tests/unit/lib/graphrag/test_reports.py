"""Communities → reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from collections.abc import Sequence

from holodeck.errors import IndexingError, ProviderError
from holodeck.lib.contracts import CommunityContext, Extraction, Finding, Report
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.reports import MAX_INPUT_TOKENS, write_reports
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.testing.words import WordEmbedder

pytestmark = pytest.mark.unit


class Reporter:
    """Writes reports that cite the first record of each kind; remembers what it was given."""

    version = "1"

    def __init__(self) -> None:
        self.seen: list[CommunityContext] = []

    async def extract(self, text: str) -> Extraction:
        raise NotImplementedError

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        raise NotImplementedError

    async def report(self, community: CommunityContext) -> Report:
        self.seen.append(community)
        kind = "Reports" if community.sub_reports else "Entities"
        return Report(
            title="T",
            summary=f"s [Data: {kind} (1)]",
            findings=(Finding(summary="f", explanation="e [Data: Relationships (1, 99)]"),),
            rating=5,
        )


def build(folder: Path, steps: Reporter) -> Build:
    return Build(
        output=folder,
        vectors=folder,
        steps=steps,
        embedder=WordEmbedder(),
        concurrency=2,
    )


def write_graph(folder: Path, description: str = "d") -> None:
    """Write a graph of one community of two levels: A–B and C–D below A–B–C–D."""
    titles = ["A", "B", "C", "D"]
    write_rows(
        folder,
        "entities",
        [
            {
                "id": f"e{n}",
                "human_readable_id": 10 + n,
                "title": title,
                "type": "",
                "description": description,
                "degree": 1,
            }
            for n, title in enumerate(titles)
        ],
    )
    pairs = [("A", "B"), ("C", "D")]
    write_rows(
        folder,
        "relationships",
        [
            {
                "id": f"r{n}",
                "human_readable_id": 20 + n,
                "source": pair[0],
                "target": pair[1],
                "description": description,
                "weight": 1.0,
                "combined_degree": 2,
            }
            for n, pair in enumerate(pairs)
        ],
    )
    groups = [(0, 0, -1, [1, 2], "0123"), (1, 1, 0, [], "01"), (2, 1, 0, [], "23")]
    write_rows(
        folder,
        "communities",
        [
            {
                "id": f"c{number}",
                "human_readable_id": number,
                "community": number,
                "level": level,
                "parent": parent,
                "children": children,
                "title": f"Community {number}",
                "entity_ids": [f"e{n}" for n in members],
                "relationship_ids": ["r0", "r1"] if number == 0 else [f"r{number - 1}"],
                "text_unit_ids": [],
                "period": "",
                "size": len(members),
            }
            for number, level, parent, children, members in groups
        ],
    )


async def test_prompts_number_records_locally_and_tables_globally(tmp_path: Path) -> None:
    """A report's references are 1..n while it is written and the table's numbers once stored.

    A number that stands for nothing is left as the model wrote it.
    """
    write_graph(tmp_path)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    reports = {row["community"]: row for row in read_rows(tmp_path, "community_reports")}
    assert [e.number for e in steps.seen[0].entities] == [1, 2]
    assert reports[2]["summary"] == "s [Data: Entities (12)]"
    assert reports[2]["findings"] == [
        {"summary": "f", "explanation": "e [Data: Relationships (21, 99)]"}
    ]
    assert json.loads(reports[2]["full_content_json"])["summary"] == reports[2]["summary"]
    assert reports[2]["full_content"].startswith("# T\n\ns [Data: Entities (12)]\n\n## f\n\n")


async def test_a_report_holds_every_relationship_that_fits(tmp_path: Path) -> None:
    """All edges within the community reach the prompt, not one for each entity."""
    write_graph(tmp_path)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    assert [len(c.relationships) for c in steps.seen] == [1, 1, 2]


async def test_a_community_too_large_for_the_window_is_written_from_finer_reports(
    tmp_path: Path,
) -> None:
    """Where the records do not fit, the reports of the sub-communities stand in for them."""
    write_graph(tmp_path, description="word " * MAX_INPUT_TOKENS)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    whole = steps.seen[-1]
    assert [r.title for r in whole.sub_reports] == ["T", "T"]
    assert whole.entities == ()
    reports = {row["community"]: row for row in read_rows(tmp_path, "community_reports")}
    assert reports[0]["summary"] == "s [Data: Reports (1)]"


async def test_a_report_that_fails_stops_the_build(tmp_path: Path) -> None:
    """No report is left out in silence."""

    class Refusing(Reporter):
        async def report(self, community: CommunityContext) -> Report:
            raise ProviderError("no")

    write_graph(tmp_path)
    with pytest.raises(IndexingError, match="report of community"):
        await write_reports(build(tmp_path, Refusing()))
