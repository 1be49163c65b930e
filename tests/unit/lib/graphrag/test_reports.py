"""Communities → reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from collections.abc import Sequence
from dataclasses import replace

from holodeck.errors import AuthenticationError, IndexingError, ProviderError
from holodeck.lib.contracts import CommunityContext, Extraction, Finding, Report
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.reports import MAX_INPUT_TOKENS, write_reports
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.graphrag.write_context import report_context
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.tokens import count_tokens
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


def write_graph(
    folder: Path, description: str = "d", *, bridge: bool = False, first: int = 0
) -> None:
    """Write a graph of one community of two levels: A–B and C–D below A–B–C–D.

    With ``bridge`` also B–C, which neither of the two finer ones holds. Records are numbered from
    ``first`` on.
    """
    titles = ["A", "B", "C", "D"]
    write_rows(
        folder,
        "entities",
        [
            {
                "id": f"e{n}",
                "human_readable_id": first + 10 + n,
                "title": title,
                "type": "",
                "description": description,
                "degree": 1,
            }
            for n, title in enumerate(titles)
        ],
    )
    pairs = [("A", "B"), ("C", "D"), *([("B", "C")] if bridge else [])]
    write_rows(
        folder,
        "relationships",
        [
            {
                "id": f"r{n}",
                "human_readable_id": first + 20 + n,
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
                "relationship_ids": [f"r{n}" for n in range(len(pairs))]
                if number == 0
                else [f"r{number - 1}"],
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


async def test_a_report_is_embedded_as_it_was_written(tmp_path: Path) -> None:
    """Its vector is of the prompt's own numbers: the tables may be numbered anew, and it stays."""
    write_graph(tmp_path)
    made = build(tmp_path, Reporter())
    await write_reports(made)
    await made.embedding.finish()

    assert isinstance(made.embedder, WordEmbedder)
    local = "# T\n\ns [Data: Entities (1)]\n\n## f\n\ne [Data: Relationships (1, 99)]"
    assert made.embedder.embedded == [local] * 3


async def test_a_report_holds_every_relationship_that_fits(tmp_path: Path) -> None:
    """All edges within the community reach the prompt, not one for each entity."""
    write_graph(tmp_path)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    assert [len(c.relationships) for c in steps.seen] == [1, 1, 2]


async def test_a_community_too_large_for_the_window_is_written_from_finer_reports(
    tmp_path: Path,
) -> None:
    """Where the records do not fit, the reports of the sub-communities stand in for them.

    A relationship between sub-communities, of which no finer report tells, is there with its ends.
    """
    write_graph(tmp_path, description="word " * (MAX_INPUT_TOKENS // 5), bridge=True)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    whole = steps.seen[-1]
    assert [r.title for r in whole.sub_reports] == ["T", "T"]
    assert [(r.source, r.target) for r in whole.relationships] == [("B", "C")]
    assert [e.title for e in whole.entities] == ["B", "C"]
    reports = {row["community"]: row for row in read_rows(tmp_path, "community_reports")}
    assert reports[0]["summary"] == "s [Data: Reports (1)]"
    assert reports[0]["findings"][0]["explanation"] == "e [Data: Relationships (22, 99)]"


async def test_numbers_of_a_finer_report_do_not_reach_the_broader_prompt(tmp_path: Path) -> None:
    """They number the records of another prompt, and would name others here."""
    write_graph(tmp_path, description="word " * MAX_INPUT_TOKENS)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    assert [r.content for r in steps.seen[-1].sub_reports] == ["# T\n\ns\n\n## f\n\ne"] * 2


@pytest.mark.parametrize("description", ["word " * 400, '"quoted" ' * 300, "word " * 20_000])
async def test_no_prompt_outgrows_its_budget(tmp_path: Path, description: str) -> None:
    """What is counted is the text that is sent, with its headers, quotes and numbers."""
    write_graph(tmp_path, description=description, bridge=True)
    steps = Reporter()
    await write_reports(build(tmp_path, steps))

    sent = [count_tokens(report_context(community)) for community in steps.seen]
    assert max(sent) <= MAX_INPUT_TOKENS
    assert min(sent) > 0


class Refusing(Reporter):
    """Writes no report of these titles."""

    def __init__(self, *refused: str, error: ProviderError | None = None) -> None:
        super().__init__()
        self.refused = set(refused)
        self.error = error or ProviderError("not JSON", retryable=True)

    async def report(self, community: CommunityContext) -> Report:
        if {entity.title for entity in community.entities} == self.refused:
            raise self.error
        return await super().report(community)


async def test_short_records_are_their_report_and_ask_no_model(tmp_path: Path) -> None:
    """Up to the threshold the records are quoted; beyond it a model writes."""
    write_graph(tmp_path)
    steps = Reporter()
    sizes = [count_tokens(report_context(context)) for context in await contexts(tmp_path)]
    await write_reports(replace(build(tmp_path, steps), report_threshold=max(sizes[:2])))

    reports = {row["community"]: row for row in read_rows(tmp_path, "community_reports")}
    assert [len(context.entities) for context in steps.seen] == [4]
    assert [reports[number]["title"] for number in (0, 1, 2)] == ["T", "A, B", "C, D"]
    assert reports[2]["findings"][0] == {
        "summary": "C – D",
        "explanation": "d [Data: Relationships (21)]",
    }


async def contexts(folder: Path) -> list[CommunityContext]:
    """Return what every report of the graph is written from, finest first."""
    steps = Reporter()
    await write_reports(build(folder, steps))
    return steps.seen


async def test_a_report_that_fails_is_counted_and_the_others_are_there(tmp_path: Path) -> None:
    """The index stands with what could be written, and says how much and why."""
    write_graph(tmp_path)
    made = build(tmp_path, Refusing("A", "B"))
    await write_reports(made)

    assert [row["community"] for row in read_rows(tmp_path, "community_reports")] == [0, 2]
    assert made.account.reports_missing == 1
    assert [(f.what, f.place, f.cause, f.passing) for f in made.failures] == [
        ("report", "community 1 of A, B", "not JSON", True)
    ]
    assert made.warnings[0].startswith("2 of 3 reports built: not JSON. 'holodeck index' asks")


async def test_a_report_that_failed_is_left_where_it_is_not_to_be_asked_for(
    tmp_path: Path,
) -> None:
    """The next build of the same community asks for nothing, and says again what is missing."""
    write_graph(tmp_path)
    first = build(tmp_path, Refusing("A", "B"))
    await write_reports(first)
    healthy = Reporter()
    known = {(failure.what, failure.id): failure for failure in first.failures}
    second = replace(build(tmp_path, healthy), known_failures=known)
    await write_reports(second)

    assert len(healthy.seen) == 2
    assert second.failures == first.failures


async def test_no_report_at_all_is_a_failure(tmp_path: Path) -> None:
    """An index that can answer no question about the whole is not published as a success."""

    class Silent(Reporter):
        async def report(self, community: CommunityContext) -> Report:
            raise ProviderError("not JSON", retryable=True)

    write_graph(tmp_path)
    with pytest.raises(IndexingError, match="0 of 3 reports built: not JSON"):
        await write_reports(build(tmp_path, Silent()))


async def test_a_wrong_key_stops_the_reports_at_once(tmp_path: Path) -> None:
    """It is named as such, not counted as missing reports."""
    write_graph(tmp_path)
    with pytest.raises(IndexingError, match="cannot be used: wrong key"):
        await write_reports(
            build(tmp_path, Refusing("A", "B", error=AuthenticationError("wrong key")))
        )


async def test_what_was_mended_in_reports_is_counted_and_not_stored(tmp_path: Path) -> None:
    """The account says it; the table holds what the model said."""

    class Mended(Reporter):
        async def report(self, community: CommunityContext) -> Report:
            return replace(await super().report(community), repairs=("JSON mended",))

    write_graph(tmp_path)
    made = build(tmp_path, Mended())
    await write_reports(made)

    assert made.repairs == {"report: JSON mended": 3}
    (row, *_) = read_rows(tmp_path, "community_reports")
    assert "repairs" not in json.loads(row["full_content_json"])


def remembered(folder: Path, steps: Reporter, memo: StepMemo) -> Build:
    """Return a build that knows what was made before, and write what it makes for the next."""
    return replace(build(folder, steps), memo=memo)


def told_of(steps: Reporter) -> list[str]:
    """Return the entities of each community that a report was asked for."""
    return ["".join(sorted(each.title for each in seen.entities)) for seen in steps.seen]


async def test_a_report_whose_records_are_as_before_is_not_put_together_again(
    tmp_path: Path,
) -> None:
    """It is numbered as the tables are now, counted and embedded as if it were new."""
    write_graph(tmp_path, bridge=True)
    memo = StepMemo()
    await write_reports(remembered(tmp_path, Reporter(), memo))
    memo.write(tmp_path / "steps.memo")
    write_graph(tmp_path, bridge=True, first=1000)
    steps = Reporter()
    made = remembered(tmp_path, steps, StepMemo(tmp_path / "steps.memo"))
    await write_reports(made)
    await made.embedding.finish()
    found = read_rows(tmp_path, "community_reports")

    fresh = build(tmp_path, Reporter())
    await write_reports(fresh)
    await fresh.embedding.finish()

    assert steps.seen == []
    assert found == read_rows(tmp_path, "community_reports")
    assert "Entities (1012)" in found[2]["summary"]
    assert isinstance(made.embedder, WordEmbedder)
    assert isinstance(fresh.embedder, WordEmbedder)
    assert made.embedder.embedded == fresh.embedder.embedded


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("entities", "description", "other"),
        ("entities", "degree", 7),
        ("entities", "type", "person"),
        ("relationships", "description", "other"),
        ("relationships", "weight", 3.0),
    ],
)
async def test_what_a_record_says_now_is_told_by_every_report_of_it(
    tmp_path: Path, table: str, column: str, value: object
) -> None:
    """The communities that hold the record are written again, and no others."""
    write_graph(tmp_path)
    memo = StepMemo()
    await write_reports(remembered(tmp_path, Reporter(), memo))
    memo.write(tmp_path / "steps.memo")
    rows = read_rows(tmp_path, table)
    rows[-1][column] = value
    write_rows(tmp_path, table, rows)
    steps = Reporter()

    await write_reports(remembered(tmp_path, steps, StepMemo(tmp_path / "steps.memo")))

    assert told_of(steps) == ["CD", "ABCD"]


async def test_a_report_that_failed_is_not_remembered(tmp_path: Path) -> None:
    """The next build asks for it and for what is built on it, and for nothing else."""
    write_graph(tmp_path)
    memo = StepMemo()
    await write_reports(remembered(tmp_path, Refusing("A", "B"), memo))
    memo.write(tmp_path / "steps.memo")
    steps = Reporter()

    await write_reports(remembered(tmp_path, steps, StepMemo(tmp_path / "steps.memo")))

    assert told_of(steps) == ["AB", "ABCD"]
