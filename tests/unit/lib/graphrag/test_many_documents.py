"""Search over a hundred documents and a hub that all of them name.

Document ``n`` says that person ``n`` visited Orion; a last one names nobody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from holodeck.errors import ContextLengthError
from holodeck.lib.contracts import Answer, AnswerContext, ChatReply, ChatRequest, ContextReport
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import (
    RANKINGS,
    LocalQuestion,
    LocalSelection,
    select_local,
)
from holodeck.lib.graphrag.open_index import open_index
from holodeck.lib.graphrag.prompted_answer import PromptedAnswerSteps
from holodeck.lib.graphrag.search import GlobalSearchEngine, LocalSearchEngine
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.lib.graphrag.tables import write_rows, write_vectors
from holodeck.lib.graphrag.values import LOCAL_VALUES
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ScriptedChat
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder, word_vector

pytestmark = pytest.mark.unit

DOCUMENTS = 120
HUB = DOCUMENTS
NAMELESS = DOCUMENTS
PERSONS = [f"Person {number}" for number in range(DOCUMENTS)]
NAMELESS_TEXT = "The lighthouse keeper retired early."
TEXTS = [f"{person} visited Orion in the year {n}." for n, person in enumerate(PERSONS)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    folder = tmp_path_factory.mktemp("many")
    titles = [*PERSONS, "Orion"]
    every = range(DOCUMENTS)
    units = {f"u{row}": text for row, text in enumerate([*TEXTS, NAMELESS_TEXT])}
    write_rows(
        folder,
        "entities",
        [
            {
                "id": f"e{row}",
                "human_readable_id": row,
                "title": title,
                "description": f"{title} is known",
                "text_unit_ids": [f"u{row}"] if row < HUB else [f"u{each}" for each in every],
                "degree": 1 if row < HUB else DOCUMENTS,
            }
            for row, title in enumerate(titles)
        ],
    )
    write_rows(
        folder,
        "relationships",
        [
            {
                "id": f"r{row}",
                "human_readable_id": row,
                "source": person,
                "target": "Orion",
                "description": f"{person} visited Orion",
                "weight": 1.0,
                "combined_degree": 1,
                "text_unit_ids": [f"u{row}"],
            }
            for row, person in enumerate(PERSONS)
        ],
    )
    write_rows(folder, "text_units", [{"id": key, "text": text} for key, text in units.items()])
    places = [{"text_unit_id": key, "path": f"{row}.txt"} for row, key in enumerate(units)]
    write_rows(folder, "sources", places)
    communities = [
        {"community": row, "level": 0, "entity_ids": [f"e{row}"], "text_unit_ids": [f"u{row}"]}
        for row in every
    ]
    write_rows(folder, "communities", communities)
    reports = [
        {"community": row, "title": PERSONS[row], "full_content": TEXTS[row]} for row in every
    ]
    write_rows(folder, "community_reports", reports)
    (folder / "prompts.json").write_text("{}", encoding="utf-8")
    for table, keys, texts in (
        ("entity_description", [f"e{row}" for row in range(len(titles))], titles),
        ("text_unit_text", list(units), list(units.values())),
    ):
        matrix = np.array([word_vector(text, 256) for text in texts], dtype=np.float32)
        write_vectors(folder / "vectors", table, keys, [matrix], 256)
    return open_index(folder, folder / "vectors")


def select(index: GraphIndex, question: str, ranking: str, tokens: int) -> LocalSelection:
    vector = np.array(word_vector(question, 256), dtype=np.float32)
    asked = LocalQuestion(text=question, vector=vector, level=2)
    return select_local(
        index, asked, ranking, replace(LOCAL_VALUES[ranking], context_tokens=tokens)
    )


def test_a_hub_leaves_the_context_to_the_texts(index: GraphIndex) -> None:
    """However many relationships it has, everything but the texts takes a quarter at most."""
    context = select(index, "Orion", "graph", 1000).context
    graph, texts = context.text.split("-----Sources-----")

    assert context.relationships
    assert count_tokens(graph) <= 250
    assert count_tokens(texts) > 700


@pytest.mark.parametrize("ranking", RANKINGS)
def test_the_one_that_is_named_is_found_beside_the_hub(index: GraphIndex, ranking: str) -> None:
    """A hub that every text names does not hide the one text that is asked for."""
    selection = select(index, "Person 77", ranking, 1000)

    assert 77 in selection.text_units
    assert selection.context.entities[0].title == "Person 77"


def test_a_text_that_names_nobody_is_found(index: GraphIndex) -> None:
    """No entity leads to it: it resembles the question, which is enough."""
    assert NAMELESS in select(index, "When did the keeper retire?", "graph", 1000).text_units


class Citing:
    """Answers a global question with a reference to every third report."""

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        raise AssertionError("a global question was asked")

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        numbers = ", ".join(str(report.number) for report in reports[::3])
        return Answer(text=f"Many visited Orion [Data: Reports ({numbers})].")


async def test_one_global_answer_cites_many_documents(index: GraphIndex) -> None:
    """Each cited report leads to its document, in the order of citation, before all others."""
    config = VectorstoreTool(name="t", source="x", engine="graphrag")
    engine = GlobalSearchEngine(
        config,
        GraphRAGStorage(config),
        resources=FixedResources(embedder=WordEmbedder(), steps=Citing()),
        index=index,
    )
    result = await engine.search("Who visited Orion?")
    cited = [f"{number}.txt" for number in range(0, DOCUMENTS, 3)]

    assert [source.path for source in result.sources][: len(cited)] == cited
    assert len(result.sources) == DOCUMENTS
    assert len(result.references["Reports"]) == len(cited) == 40


class Reading(ScriptedChat):
    """A model that makes a point of every report it is shown, and keeps every point."""

    def __init__(self) -> None:
        super().__init__(self.read)

    def read(self, request: ChatRequest) -> str:
        shown = request.messages[0].content
        if request.purpose == "map" and count_tokens(shown) > 1_500:
            raise ContextLengthError("too long")
        if request.purpose == "reduce":
            return " ".join(
                re.findall(r"Person \d+ visited Orion \[Data: Reports \(\d+\)\]", shown)
            )
        points = [
            {"description": f"{person} visited Orion [Data: Reports ({number})]", "score": 50}
            for number, person in re.findall(r"^(\d+)\|(Person \d+)\|", shown, re.MULTILINE)
        ]
        return json.dumps({"points": points})


async def test_one_global_answer_over_many_batches_cites_every_document(index: GraphIndex) -> None:
    """Map, fence and reduce lose no reference: 120 documents, each cited through its report."""
    chat = Reading()
    steps = PromptedAnswerSteps(
        chat=chat,
        settings=ModelSettings(provider="ollama", name="m"),
        prompts={
            "local": "",
            "map": "{context_data} {max_length}",
            "reduce": "{report_data} {response_type} {max_length}",
        },
        response_type="one paragraph",
    )
    config = VectorstoreTool(name="t", source="x", engine="graphrag")
    engine = GlobalSearchEngine(
        config,
        GraphRAGStorage(config),
        resources=FixedResources(embedder=WordEmbedder(), steps=steps),
        index=index,
    )
    result = await engine.search("Who visited Orion?")

    assert sum(request.purpose == "map" for request in chat.requests) > 1
    assert sorted(map(int, result.references["Reports"])) == list(range(DOCUMENTS))
    assert result.reference_sources["Reports"]["77"] == ["77.txt"]
    assert {source.path for source in result.sources} == {f"{n}.txt" for n in range(DOCUMENTS)}
    assert result.notes == ()


class Narrow(ScriptedChat):
    """A model that takes so many tokens, and keeps what it took."""

    def __init__(self, takes: int) -> None:
        super().__init__(lambda request: "done")
        self._takes = takes

    async def complete(self, request: ChatRequest) -> ChatReply:
        if sum(count_tokens(message.content) for message in request.messages) > self._takes:
            raise ContextLengthError(f"the model takes {self._takes}")
        return await super().complete(request)


def local_engine(index: GraphIndex, chat: ScriptedChat, window: int | None) -> LocalSearchEngine:
    config = VectorstoreTool(name="t", source="x", engine="graphrag", graphrag=GraphRAGConfig())
    steps = PromptedAnswerSteps(
        chat=chat,
        settings=ModelSettings(provider="ollama", name="m", max_tokens=50, context_size=window),
        prompts={"local": "{context_data} {response_type}", "map": "", "reduce": ""},
        response_type="",
    )
    return LocalSearchEngine(
        config,
        GraphRAGStorage(config),
        resources=FixedResources(embedder=WordEmbedder(), steps=steps),
        index=index,
    )


async def test_a_context_fits_the_window_that_is_set(index: GraphIndex) -> None:
    """No call is refused: prompt, context and reply together are as long as the model takes."""
    chat = Narrow(1_000)
    result = await local_engine(index, chat, 1_000).search("Who visited Orion?")

    assert result.response == "done"
    assert 600 < count_tokens(result.context) < 850
    assert len(chat.requests) == 1
    assert "tokens of context in place of 12,000" in result.notes[0]


async def test_a_context_that_a_model_refuses_is_made_shorter(index: GraphIndex) -> None:
    """Where nobody said how much a model takes, the answer is made from as much as it took."""
    chat = Narrow(700)
    result = await local_engine(index, chat, None).search("Who visited Orion?")

    assert result.response == "done"
    assert 150 < count_tokens(result.context) < 600
    assert result.context.splitlines()[0].startswith("-----")
    assert "the search model takes no more" in result.notes[0]


async def test_a_question_that_no_context_fits_beside_says_so(index: GraphIndex) -> None:
    """The error says how little was tried, why it was refused, and what can be set."""
    said = r"and \d+ tokens of what was found.*takes 90.*search_model"
    with pytest.raises(ContextLengthError, match=said):
        await local_engine(index, Narrow(90), None).search("Who visited Orion?")
