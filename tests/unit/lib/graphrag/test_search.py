"""Local and global search over a small graph made by hand.

Ann runs Orion, Bob runs Vega; Orion bought Vega. Zeta stands alone. Level 0 is one community of
four, level 1 divides it in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from holodeck.errors import EmptyQueryError, NotInitializedError, SearchError
from holodeck.lib.contracts import (
    Answer,
    AnswerContext,
    ContextReport,
    Rating,
)
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import (
    RANKINGS,
    LocalQuestion,
    LocalSelection,
    select_local,
)
from holodeck.lib.graphrag.open_index import open_index
from holodeck.lib.graphrag.opened_tables import Reports
from holodeck.lib.graphrag.search import (
    NO_ENTITIES,
    NO_REPORTS,
    NOTHING_FITS,
    NOTHING_HELPS,
    TEXTS_ALONE,
    GlobalSearchEngine,
    LocalSearchEngine,
)
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.lib.graphrag.tables import write_rows, write_vectors
from holodeck.lib.graphrag.values import LOCAL_VALUES
from holodeck.lib.graphrag.write_context import TokenCounts
from holodeck.lib.ranking.vectors import Vectors
from holodeck.lib.resources import Resources
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing.words import WordEmbedder, word_vector

pytestmark = pytest.mark.unit

TEXTS = {
    "u1": "Ann runs Orion.",
    "u2": "Bob runs Vega.",
    "u3": "Orion bought Vega.",
    "u4": "Site Zeta closed in 2021.",
}
ENTITIES = {
    "ann": ("Ann", 1, ["u1"]),
    "bob": ("Bob", 1, ["u2"]),
    "orion": ("Orion", 2, ["u1", "u3"]),
    "vega": ("Vega", 2, ["u2", "u3"]),
    "zeta": ("Zeta", 0, ["u4"]),
}
EDGES = {
    "r1": ("Ann", "Orion", "Ann runs Orion", 3, ["u1"]),
    "r2": ("Bob", "Vega", "Bob runs Vega", 3, ["u2"]),
    "r3": ("Orion", "Vega", "Orion bought Vega", 4, ["u3"]),
}
UNIT_ROW = {key: row for row, key in enumerate(TEXTS)}
LEVELS = {
    0: (0, "ann bob orion vega", "u1 u2 u3"),
    1: (1, "ann orion", "u1"),
    2: (1, "bob vega", "u2"),
}


def write_index(folder: Path, *, reports: bool, entities: bool) -> None:
    chosen = ENTITIES if entities else {}
    write_rows(
        folder,
        "entities",
        [
            {
                "id": key,
                "human_readable_id": row,
                "title": title,
                "description": f"{title} is here",
                "text_unit_ids": units,
                "degree": degree,
            }
            for row, (key, (title, degree, units)) in enumerate(chosen.items())
        ],
    )
    write_rows(
        folder,
        "relationships",
        [
            {
                "id": key,
                "human_readable_id": row,
                "source": source,
                "target": target,
                "description": said,
                "weight": 1.0,
                "combined_degree": rank,
                "text_unit_ids": units,
            }
            for row, (key, (source, target, said, rank, units)) in enumerate(EDGES.items())
        ],
    )
    write_rows(folder, "text_units", [{"id": key, "text": text} for key, text in TEXTS.items()])
    write_rows(folder, "sources", [{"text_unit_id": key, "path": f"{key}.txt"} for key in TEXTS])
    write_rows(
        folder,
        "communities",
        [
            {
                "community": number,
                "level": level,
                "parent": 0 if level else -1,
                "entity_ids": members.split(),
                "text_unit_ids": units.split(),
            }
            for number, (level, members, units) in LEVELS.items()
        ],
    )
    write_rows(
        folder,
        "community_reports",
        [
            {"community": n, "title": f"Report {n}", "full_content": "content", "rank": float(n)}
            for n in LEVELS
            if reports
        ],
    )
    (folder / "prompts.json").write_text("{}", encoding="utf-8")
    described = {key: f"{title}:{title} is here" for key, (title, _, _) in chosen.items()}
    for table, texts in (("entity_description", described), ("text_unit_text", TEXTS)):
        if texts:
            matrix = np.array([word_vector(t, 256) for t in texts.values()], dtype=np.float32)
            write_vectors(folder / "vectors", table, list(texts), [matrix], 256)


@cache
def index(*, reports: bool = True, entities: bool = True) -> GraphIndex:
    with TemporaryDirectory() as name:
        write_index(Path(name), reports=reports, entities=entities)
        return open_index(Path(name), Path(name) / "vectors")


def select(
    question: str, like: str, level: int = 2, ranking: str = "graph", **values: int
) -> LocalSelection:
    asked = LocalQuestion(text=question, vector=query(like), level=level)
    return select_local(index(), asked, ranking, replace(LOCAL_VALUES[ranking], **values))


class Answering:
    """Answers with what it is told to, and remembers what it was given."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.context = AnswerContext()
        self.reports: Sequence[ContextReport] = ()
        self.ratings: dict[int, float | None] = {}
        self.rated: list[int] = []

    async def rate_reports(self, question: str, reports: Sequence[ContextReport]) -> list[Rating]:
        self.rated += [report.number for report in reports]
        return [Rating(value=self.ratings[report.number], failure="down") for report in reports]

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        self.context = context
        return Answer(text=self.text, notes=("note",))

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        self.reports = reports
        return Answer(text=self.text)


class Given(Resources):
    """Hands out one embedder and one set of answer steps, whatever is asked for."""

    def __init__(self, answering: Answering) -> None:
        super().__init__(environ={})
        self.answering = answering

    def embedder(
        self,
        settings: ModelSettings,
        where: str,
        dimensions: int | None = None,
        *,
        width: int | None = None,
    ) -> WordEmbedder:
        return WordEmbedder()

    def steps(
        self, settings: ModelSettings, where: str, *, entity_types: tuple[str, ...] = ()
    ) -> Answering:
        return self.answering


def engine(
    kind: type[LocalSearchEngine] | type[GlobalSearchEngine],
    answer: str = "yes",
    level: int = 2,
    opened: GraphIndex | None = None,
    dynamic: bool = False,
    ranking: str = "graph",
) -> tuple[LocalSearchEngine | GlobalSearchEngine, Answering]:
    config = VectorstoreTool(
        name="t",
        source="x",
        engine="graphrag",
        graphrag=GraphRAGConfig.model_validate(
            {
                "community_level": level,
                "dynamic_community_selection": dynamic,
                "ranking": ranking,
            }
        ),
    )
    answering = Answering(answer)
    made = kind(
        config,
        GraphRAGStorage(config),
        resources=Given(answering),
        index=index() if opened is None else opened,
    )
    return made, answering


async def test_a_vector_of_another_width_names_both_and_the_mend() -> None:
    """What the embedding model gives now must be comparable with what the index holds."""
    narrow = Vectors.of(np.arange(2), np.ones((2, 8), dtype=np.float32))
    made, _ = engine(LocalSearchEngine, opened=replace(index(), entity_vectors=narrow))

    with pytest.raises(SearchError, match=r"256 numbers.* of 8: .*holodeck index --force"):
        await made.search("Who is Ann?")


def query(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array(word_vector(text, 256), dtype=np.float32)


def test_an_entity_that_the_question_names_comes_first() -> None:
    """A name in the question beats any likeness of vectors."""
    assert select("What is Vega?", "Ann Ann").context.entities[0].title == "Vega"


def test_an_entity_without_relationships_is_found() -> None:
    """What stands alone is in no community and still answers from its text."""
    selection = select("When did Zeta close?", "Zeta closed")

    assert selection.context.entities[0].title == "Zeta"
    assert selection.text_units[0] == UNIT_ROW["u4"]


def test_an_entity_without_relationships_is_found_in_the_library_s_ranking() -> None:
    """The library forgets entities without a community; this is the one thing that is mended."""
    selection = select("When did Zeta close?", "Zeta closed", ranking="library")

    assert selection.context.entities[0].title == "Zeta"
    assert UNIT_ROW["u4"] in selection.text_units


def test_a_text_that_shares_no_word_with_the_question_is_found_over_the_graph() -> None:
    """Who runs what Orion bought stands two steps away from Orion."""
    selection = select("Orion", "nothing", entities=2)

    assert selection.text_units[:2] == (UNIT_ROW["u1"], UNIT_ROW["u3"])
    assert UNIT_ROW["u2"] in selection.text_units


@pytest.mark.parametrize(("level", "numbers"), [(0, {0}), (1, {1, 2}), (2, {1, 2}), (5, {1, 2})])
def test_the_finest_report_of_at_most_the_level_stands_for_an_entity(
    level: int, numbers: set[int]
) -> None:
    """Level 0 is the broadest; a level deeper than the index is its deepest."""
    selection = select("Ann Bob", "Ann Bob", level)

    assert {r.number for r in selection.context.reports} == numbers


@pytest.mark.parametrize(("level", "numbers"), [(0, {0}), (1, {0, 1, 2}), (5, {0, 1, 2})])
def test_the_library_s_ranking_takes_the_reports_of_all_levels(
    level: int, numbers: set[int]
) -> None:
    """The roll-up to the finest report, which the library means and does not do, is not done."""
    selection = select("Ann Bob", "Ann Bob", level, "library")

    assert {r.number for r in selection.context.reports} == numbers


def test_relationships_between_chosen_entities_come_first() -> None:
    """Of few relationships, those stand in the context whose two ends the question is about."""
    selection = select("Orion and Vega", "nothing")

    assert selection.context.relationships[0].description == "Orion bought Vega"


@pytest.mark.parametrize("ranking", RANKINGS)
def test_equal_questions_give_equal_contexts(ranking: str) -> None:
    """Nothing is left to chance or to the order of a hash."""
    assert select("Ann", "Ann", ranking=ranking) == select("Ann", "Ann", ranking=ranking)


def test_a_tiny_budget_gives_fewer_records_and_no_error() -> None:
    """A record that does not fit is left out; an empty table is no table."""
    selection = select("Ann", "Ann", context_tokens=20)

    assert 0 < len(selection.context.text_units) < len(TEXTS)
    assert select("Ann", "Ann", context_tokens=1).context == AnswerContext()


@pytest.mark.parametrize("budget", [30, 60, 100, 200, 1000])
def test_a_context_stays_within_its_budget(budget: int) -> None:
    """All tables together, headers and the lines between them among them."""
    assert count_tokens(select("Orion", "Orion", context_tokens=budget).context.text) <= budget


async def test_counts_are_what_went_into_the_context() -> None:
    """Entities and communities used are those of the context, not of the index."""
    made, answering = engine(LocalSearchEngine)
    result = await made.search("Ann")

    assert result.entities_used == len(answering.context.entities)
    assert result.communities_used == len(answering.context.reports)
    assert result.context == answering.context.text
    assert result.notes == ("note",)


async def test_cited_sources_come_first() -> None:
    """The text units that the answer cites lead the list, in the order of citation."""
    made, _ = engine(LocalSearchEngine, "Bob [Data: Sources (2, 1); Entities (1)].")
    result = await made.search("Ann")

    assert [source.path for source in result.sources][:2] == ["u3.txt", "u2.txt"]
    assert result.references["Sources"] == {"2": "u3.txt", "1": "u2.txt"}
    assert result.references["Entities"] == {"1": "Bob"}
    assert result.reference_sources["Entities"] == {"1": ["u2.txt"]}
    assert result.notes == ("note",)


async def test_every_kind_of_reference_leads_to_its_documents() -> None:
    """Relationship, report and text: to the title of the record, and to where its texts stand."""
    made, _ = engine(
        LocalSearchEngine, "x [Data: Relationships (2), Reports (1); Sources (3, +more)]."
    )
    result = await made.search("Orion and Vega, Ann and Zeta")

    assert result.references == {
        "Relationships": {"2": "Orion – Vega"},
        "Reports": {"1": "Report 1"},
        "Sources": {"3": "u4.txt"},
    }
    assert result.reference_sources == {
        "Relationships": {"2": ["u3.txt"]},
        "Reports": {"1": ["u1.txt"]},
        "Sources": {"3": ["u4.txt"]},
    }


async def test_a_reference_that_stands_for_nothing_is_noted() -> None:
    """A model that makes up a number is found out."""
    made, _ = engine(LocalSearchEngine, "x [Data: Sources (99, a); Rumours (1)].")
    result = await made.search("Ann")

    assert result.references == {}
    assert result.notes[-1] == (
        "the answer refers to Sources (99), Sources (a), Rumours (1), which it was not given"
    )


@pytest.mark.parametrize(("level", "numbers"), [(0, [0]), (1, [2, 1]), (5, [2, 1])])
async def test_global_search_reads_the_finest_reports_of_the_level(
    level: int, numbers: list[int]
) -> None:
    """One report stands for every entity, best rank first, and all components are covered."""
    made, answering = engine(GlobalSearchEngine, level=level)
    result = await made.search("all?")

    assert [r.number for r in answering.reports] == numbers
    assert result.communities_used == len(numbers)


async def test_global_sources_are_traced_through_the_reports_cited_ones_first() -> None:
    """A report leads to the documents of its community; what else was in the context follows."""
    made, _ = engine(GlobalSearchEngine, "Ann runs Orion [Data: Reports (1)].")
    result = await made.search("all?")

    assert [source.path for source in result.sources] == ["u1.txt", "u2.txt"]
    assert result.references == {"Reports": {"1": "Report 1"}}


@pytest.mark.parametrize(
    ("ratings", "read", "rated"),
    [
        ({0: 3, 1: 4, 2: 0}, [1], 3),  # the part that helps stands for the whole
        ({0: 3, 1: 0, 2: 0}, [0], 3),  # no part helps: the whole is read
        ({0: 0, 1: 0, 2: 2}, [2], 3),  # nothing helps yet: one level deeper
        ({0: None, 1: None, 2: 0}, [1], 1),  # what could not be rated is read
        ({0: 0, 1: 0, 2: 0}, [], 3),
    ],
)
async def test_reports_are_chosen_by_rating_from_the_root_down(
    ratings: dict[int, float | None], read: list[int], rated: int
) -> None:
    """Calls are counted, and the note says how many reports were rated and read."""
    made, answering = engine(GlobalSearchEngine, dynamic=True)
    answering.ratings = ratings
    result = await made.search("all?")

    assert [report.number for report in answering.reports] == read
    assert len(answering.rated) == 3
    assert f"of 3 community reports {rated} were rated, {len(read)} read" in result.notes
    assert any("could not be had (down)" in note for note in result.notes) == (
        None in ratings.values()
    )


@pytest.mark.parametrize("answer", [True, False], ids=["answer", "context"])
async def test_where_no_report_helps_that_is_said(answer: bool) -> None:
    """In place of an answer or of a context; no model is asked to answer from nothing."""
    made, answering = engine(GlobalSearchEngine, dynamic=True)
    answering.ratings = {0: 0, 1: 0, 2: 0}
    result = await made.search("all?", answer=answer)

    assert result.response == NOTHING_HELPS
    assert (result.context, result.sources, result.communities_used) == ("", (), 0)
    assert "of 3 community reports 3 were rated, 0 read" in result.notes
    assert answering.reports == ()


async def test_a_rating_goes_no_deeper_than_the_level() -> None:
    """The configured level bounds a dynamic selection too."""
    made, answering = engine(GlobalSearchEngine, level=0, dynamic=True)
    answering.ratings = {0: 5}
    await made.search("all?")

    assert answering.rated == [0]


async def test_an_empty_index_says_so_without_a_call() -> None:
    """No entities and no reports each have their sentence; no model is asked."""
    local, asked = engine(LocalSearchEngine, opened=index(entities=False), ranking="library")
    whole, _ = engine(GlobalSearchEngine, opened=index(reports=False))

    assert (await local.search("Ann")).response == NO_ENTITIES
    assert (await whole.search("all?")).response == NO_REPORTS
    assert asked.context == AnswerContext()


async def test_texts_are_found_where_nothing_was_extracted() -> None:
    """An index without entities still holds what the documents say, and the reader is told."""
    made, answering = engine(LocalSearchEngine, opened=index(entities=False))
    result = await made.search("Ann")

    assert result.sources[0].path == "u1.txt"
    assert TEXTS["u1"] in answering.context.text
    assert answering.context.entities == ()
    assert result.notes == (TEXTS_ALONE, "note")


async def test_a_context_that_nothing_fits_is_noted() -> None:
    """Records longer than the whole budget leave an empty context, and the reader is told."""
    endless = dict.fromkeys(range(9), 1_000_000)
    tables = ("Entities4", "Relationships5", "Sources2", "Reports3")
    counts = TokenCounts(dict.fromkeys(tables, endless))
    made, _ = engine(LocalSearchEngine, opened=replace(index(), token_counts=counts))
    result = await made.search("Ann", answer=False)

    assert (result.context, result.notes) == ("", (NOTHING_FITS,))


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("question", ["谁领导了猎户座项目？", "猎户座项目"])
def test_a_question_in_a_script_without_blanks_finds_its_document(
    tmp_path: Path, ranking: str, question: str
) -> None:
    """Words, names and vectors work in the script of the documents; nothing is cut in a sign."""
    texts = {"u1": "李娜领导了猎户座项目。🚀", "u2": "天气很好。", "u3": "مشروع الجبار 👩‍🚀"}
    for table in ("relationships", "communities", "community_reports", "documents"):
        write_rows(tmp_path, table, [])
    names = {"e1": ("猎户座项目", "u1"), "e2": ("天气", "u2"), "e3": ("الجبار", "u3")}
    rows = [
        {"id": key, "human_readable_id": n, "title": title, "text_unit_ids": [unit]}
        for n, (key, (title, unit)) in enumerate(names.items())
    ]
    write_rows(tmp_path, "entities", rows)
    write_rows(tmp_path, "text_units", [{"id": key, "text": text} for key, text in texts.items()])
    write_rows(tmp_path, "sources", [{"text_unit_id": key, "path": key} for key in texts])
    (tmp_path / "prompts.json").write_text("{}", encoding="utf-8")
    matrix = np.array([word_vector(title, 256) for title, _ in names.values()], dtype=np.float32)
    write_vectors(tmp_path / "vectors", "entity_description", list(names), [matrix], 256)
    opened = open_index(tmp_path, tmp_path / "vectors")
    asked = LocalQuestion(text=question, vector=query("猎户座项目"), level=2)
    selection = select_local(opened, asked, ranking)

    assert selection.text_units[0] == 0
    assert texts["u1"] in selection.context.text
    assert "\ufffd" not in selection.context.text


@pytest.mark.parametrize("kind", [LocalSearchEngine, GlobalSearchEngine])
async def test_context_without_an_answer_calls_nobody(
    kind: type[LocalSearchEngine] | type[GlobalSearchEngine],
) -> None:
    """``answer=False`` gives context and sources only."""
    made, answering = engine(kind)
    result = await made.search("Ann", answer=False)

    assert result.response == ""
    assert result.context
    assert result.sources
    assert (answering.context, answering.reports) == (AnswerContext(), ())


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
async def test_an_empty_question_is_refused(blank: str) -> None:
    """There is nothing to answer; the error is a value error too."""
    made, _ = engine(LocalSearchEngine)
    with pytest.raises(EmptyQueryError, match="empty"):
        await made.search(blank)


@pytest.mark.parametrize("question", ["?", "🚀", "谁领导了猎户座项目？", "x" * 40_000])
async def test_any_question_gets_a_result(question: str) -> None:
    """Marks, symbols, any script and great length give a result; a cut is noted."""
    made, _ = engine(LocalSearchEngine)
    result = await made.search(question)

    assert result.response == "yes"
    assert any("cut" in note for note in result.notes) == (len(question) > 8_000)


async def test_searching_before_initialize_is_refused() -> None:
    """The error says what to call first."""
    config = VectorstoreTool(name="t", source="x", engine="graphrag")
    made = LocalSearchEngine(config, GraphRAGStorage(config), resources=Given(Answering("")))

    with pytest.raises(NotInitializedError, match=r"initialize\(\) first"):
        await made.search("Ann")


@pytest.mark.parametrize(
    "mark",
    [
        "[Data: Sources (1-2)]",
        "[Data: Sources (1; 2)]",
        "[data: sources (1, 2 +more)]",
        "[Data: Source (1), Source (2, + more)]",
        "【Data: Sources (1–2)】",
    ],
)
async def test_a_reference_is_followed_however_it_is_written(mark: str) -> None:
    """Ranges, other signs between numbers, small letters and wide brackets."""
    made, _ = engine(LocalSearchEngine, f"x {mark}.")
    result = await made.search("Ann")

    assert result.references["Sources"] == {"1": "u2.txt", "2": "u3.txt"}
    assert result.notes == ("note",)


async def test_a_number_of_thousands_of_digits_is_no_reference() -> None:
    """It costs a short note, not the answer; nor does a range that nobody could follow."""
    made, _ = engine(LocalSearchEngine, f"x [Data: Sources ({'1' * 5000}, 0-999999999)].")
    result = await made.search("Ann")

    assert result.response.startswith("x [Data")
    assert len(result.notes[-1]) < 200
    assert "Sources (0-999999999)" in result.notes[-1]


async def test_where_a_report_is_missing_the_one_above_is_read() -> None:
    """No entity is without a report while one of its communities has one."""
    opened = index()
    of_all = opened.reports
    kept = [row for row, number in enumerate(of_all.numbers.tolist()) if number != 1]
    fewer = Reports(
        numbers=of_all.numbers[kept],
        ranks=of_all.ranks[kept],
        titles=[of_all.titles[row] for row in kept],
        contents=[of_all.contents[row] for row in kept],
        summaries=[of_all.summaries[row] for row in kept],
    )
    made, answering = engine(GlobalSearchEngine, opened=replace(opened, reports=fewer))
    await made.search("all?")

    assert [report.number for report in answering.reports] == [2, 0]
