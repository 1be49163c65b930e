"""The example documents, questions and agents hold together."""

from __future__ import annotations

import csv
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pypdf
import pytest
import yaml

from holodeck.models.agent import AgentConfig

pytestmark = pytest.mark.unit

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
POLAR = EXAMPLES / "polar"
DOCS = POLAR / "docs"
PDF = DOCS / "backers.pdf"
PROSE = sorted(path for path in DOCS.rglob("*") if path.suffix in {".md", ".txt"})
AGENTS = sorted(
    path for path in EXAMPLES.rglob("*.yaml") if path.name not in ("questions.yaml", "cases.yaml")
)


def _questions() -> list[dict[str, Any]]:  # Any: what YAML holds
    loaded = yaml.safe_load((POLAR / "questions.yaml").read_text(encoding="utf-8"))
    return cast("list[dict[str, Any]]", loaded["questions"])


def _gold(question: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [
        (entry["path"], entry["page"]) if isinstance(entry, dict) else (entry, None)
        for entry in question["gold"]
    ]


def _text(path: str, page: int | None = None) -> str:
    if page is not None:
        return pypdf.PdfReader(DOCS / path).pages[page - 1].extract_text()
    return (DOCS / path).read_text(encoding="utf-8")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.casefold()))


def _agent(path: Path) -> AgentConfig:
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", path.read_text(encoding="utf-8"))
    return AgentConfig.model_validate(yaml.safe_load(text))


QUESTIONS = _questions()
QUESTION_IDS = [question["id"] for question in QUESTIONS]


def test_there_are_many_documents_in_both_text_formats() -> None:
    """The corpus has at least 44 prose documents, Markdown and plain text mixed."""
    assert len(PROSE) >= 44
    assert {path.suffix for path in PROSE} == {".md", ".txt"}


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_a_document_is_short_utf8_prose(path: Path) -> None:
    """Each document is UTF-8 without a byte order mark and has 120 to 350 words."""
    text = path.read_bytes().decode("utf-8")

    assert not text.startswith("\ufeff")
    assert 120 <= len(text.split()) <= 350


def test_no_two_documents_are_equal() -> None:
    """Every document says something of its own."""
    assert len({path.read_bytes() for path in PROSE}) == len(PROSE)


def test_the_pdf_is_what_its_script_writes() -> None:
    """The committed PDF equals, byte by byte, what make_pdf.py makes of backers.txt."""
    build = cast("Callable[[str], bytes]", runpy.run_path(str(POLAR / "make_pdf.py"))["build_pdf"])

    assert build((POLAR / "backers.txt").read_text(encoding="utf-8")) == PDF.read_bytes()


def test_every_page_of_the_pdf_gives_its_text() -> None:
    """A strict reader extracts from each page all the words that were written on it."""
    parts = (POLAR / "backers.txt").read_text(encoding="utf-8").split("====\n")

    pages = pypdf.PdfReader(PDF, strict=True).pages

    assert len(pages) >= 4
    assert [page.extract_text().split() for page in pages] == [part.split() for part in parts]


def test_the_table_is_regular() -> None:
    """The CSV has a header and at least 25 distinct records, none shorter or longer, no blanks."""
    with (DOCS / "ships.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file, strict=True))

    assert header == ["name", "built", "built_at", "expedition", "leader", "years", "fate"]
    assert len(rows) >= 25
    assert {len(row) for row in rows} == {len(header)}
    assert all(value.strip() for row in rows for value in row)
    assert len({tuple(row) for row in rows}) == len(rows)


def test_the_questions_are_eight_local_and_two_global() -> None:
    """There are ten questions with ids of their own: eight about things, two about the whole."""
    modes = [question["mode"] for question in QUESTIONS]

    assert len(set(QUESTION_IDS)) == 10
    assert (modes.count("local"), modes.count("global")) == (8, 2)


@pytest.mark.parametrize("question", QUESTIONS, ids=QUESTION_IDS)
def test_a_question_names_documents_that_exist(question: dict[str, Any]) -> None:
    """A local question needs two or three documents, a global one many; each is there, once."""
    gold = _gold(question)
    fewest, most = (2, 3) if question["mode"] == "local" else (8, len(PROSE))

    assert fewest <= len(gold) <= most
    assert len(set(gold)) == len(gold)
    assert [path for path, _ in gold if not (DOCS / path).is_file()] == []
    assert set(question) == {"id", "question", "mode", "gold", "answer"}


@pytest.mark.parametrize("question", QUESTIONS, ids=QUESTION_IDS)
def test_each_gold_document_bears_on_its_question(question: dict[str, Any]) -> None:
    """Each gold document has a rare word (in under a fifth of all) of the question or answer."""
    all_words = [_words(path.read_text(encoding="utf-8")) for path in PROSE]
    wanted = {
        word
        for word in _words(question["question"] + " " + question["answer"])
        if sum(word in words for words in all_words) < len(PROSE) / 5
    }

    for path, page in _gold(question):
        assert wanted & _words(_text(path, page)), path


@pytest.mark.parametrize(
    "question",
    [question for question in QUESTIONS if question["mode"] == "local"],
    ids=[question["id"] for question in QUESTIONS if question["mode"] == "local"],
)
def test_no_single_document_answers_a_local_question(question: dict[str, Any]) -> None:
    """All gold documents together hold more of the names and years in question and answer."""
    both = question["question"] + " " + question["answer"]
    names = set(re.findall(r"[A-Z]\w{3,}|\b\d{4}\b", both))
    held = [
        {name for name in names if re.search(rf"\b{name}\b", _text(path, page))}
        for path, page in _gold(question)
    ]

    assert max(len(one) for one in held) < len(set.union(*held))


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.name)
def test_an_example_agent_is_valid(path: Path) -> None:
    """Each example agent validates, holds no key, and its source is the example documents."""
    agent = _agent(path)

    (tool,) = agent.vectorstore_tools
    assert (path.parent / tool.source).resolve() == DOCS
    assert tool.name == "knowledge"
    assert agent.model.api_key is None


def test_there_is_an_example_agent_for_every_provider_and_engine() -> None:
    """Four providers and both engines are shown, each by an agent with a name of its own."""
    agents = [_agent(path) for path in AGENTS]

    assert {agent.model.provider for agent in agents} == {
        "openai",
        "azure_openai",
        "ollama",
        "embedded",
    }
    assert {agent.vectorstore_tools[0].engine for agent in agents} == {"default", "graphrag"}
    assert len({agent.name for agent in agents}) == len(agents)
