"""The sample corpus and the smallest tool that the format was announced with, from end to end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

import holodeck
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ModelServer, ServerRequest
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.xdist_group("sample_corpus"),  # the minimal project is built once
]

KEY = "sk-test-CANARY-sample"
SAMPLE = "John Smith is CEO of Acme Corp. Acme Corp is based in San Francisco."
AGENT = """\
name: analyst
model:
  provider: openai
tools:
  - name: knowledge_graph
    type: vectorstore
    engine: graphrag
    source: data/documents/
    description: Search knowledge graph
"""


def said_of(request: ServerRequest) -> str:
    """Answer with the names that the model was shown, as a model would."""
    names = ("John Smith", "Jane Doe", "Acme Corp")
    shown = [name for name in names if name.lower() in request.text.lower()]
    return f"{' and '.join(shown)} stand in the records [Data: Sources (0)]."


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """Return a server that knows the key."""
    with ModelServer(api_key=KEY) as running:
        running.reply("local", said_of)
        yield running


@pytest.fixture
def sample_corpus(tmp_path: Path) -> Path:
    """Return the folder of the smallest corpus."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "test.txt").write_text(SAMPLE, encoding="utf-8")
    return docs


async def test_graphrag_local_search(
    sample_corpus: Path, tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The classes alone, with a key in the environment: documents in, an answer out."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    config = VectorstoreTool(
        name="test_graphrag",
        type="vectorstore",
        source=str(sample_corpus),
        description="Test GraphRAG",
        engine="graphrag",
        graphrag=GraphRAGConfig(search_mode="local", storage_dir=str(tmp_path / "graphrag")),
    )
    tool = VectorStoreTool(config)
    await tool.initialize()
    result = await tool.search("Who is the CEO of Acme Corp?")
    await tool.close()

    assert "John Smith" in result
    assert result.startswith("**GraphRAG Local Search Result**")
    assert "- test.txt" in result
    assert (tmp_path / "graphrag" / "index.meta").exists()


def run(folder: Path, server: ModelServer, *words: str) -> Any:
    """Run a command in ``folder`` that prints JSON, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "holodeck", *words, "--json"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(holodeck.__file__).parents[1]),
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": server.url,
        },
        capture_output=True,
        check=False,
        timeout=110,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def project(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose tool has the five lines that are the least, indexed."""
    folder = tmp_path_factory.mktemp("minimal")
    (folder / "data" / "documents").mkdir(parents=True)
    (folder / "data" / "documents" / "test.txt").write_text(SAMPLE, encoding="utf-8")
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    (built,) = run(folder, server, "index")["tools"]
    assert built["counts"]["entities"] >= 2
    return folder


def test_the_smallest_tool_answers_local_questions(project: Path, server: ModelServer) -> None:
    """From what names it: the answer, the entities and the file that it is from."""
    found = run(project, server, "search", "Who is the CEO of Acme Corp?")

    assert "John Smith" in found["response"]
    assert found["search_mode"] == "local"
    assert found["entities_used"] >= 2
    assert [source["path"] for source in found["sources"]] == ["test.txt"]


def test_the_smallest_tool_answers_global_questions(project: Path, server: ModelServer) -> None:
    """Over the reports of its communities, traced to the file."""
    found = run(project, server, "search", "What are the themes?", "--mode", "global")

    assert found["response"]
    assert found["communities_used"] >= 1
    assert {source["path"] for source in found["sources"]} == {"test.txt"}


@pytest.mark.heavy
def test_only_what_changed_is_built_anew(
    project: Path, server: ModelServer, tmp_path: Path
) -> None:
    """Unchanged documents ask for nothing; a second document for itself alone, and it is found."""
    folder = tmp_path / "copy"
    shutil.copytree(project, folder)
    server.reset_counts()
    (unchanged,) = run(folder, server, "index")["tools"]
    asked = len(server.requests)
    text = "Jane Doe is CFO of Acme Corp. Jane Doe met John Smith in San Francisco."
    (folder / "data" / "documents" / "second.txt").write_text(text, encoding="utf-8")
    (status,) = run(folder, server, "status")["tools"]
    (updated,) = run(folder, server, "index")["tools"]
    extracted = [one for one in server.requests if one.kind == "extract"]
    found = run(folder, server, "search", "Who is Jane Doe?")

    assert (unchanged["built"], asked) == (False, 0)
    assert status["stale_reason"] == "the documents changed"
    assert updated["built"]
    assert [text in one.text and SAMPLE not in one.text for one in extracted] == [True]
    assert "Jane Doe" in found["response"]
