"""What goes wrong with the graph engine, and what its caller hears: one test a row.

| what                        | found by          | error, and what it also is                  |
|-----------------------------|-------------------|---------------------------------------------|
| graphrag is not installed   | require_graphrag, | MissingExtraError, an ImportError:          |
|                             | engine, tool      | pip install holodeck[graphrag]              |
| an engine that is none      | model, loader     | ValidationError, ConfigError:               |
|                             |                   | 'default' or 'graphrag'                     |
| a tool of another engine    | GraphRAGEngine()  | ConfigError, a ValueError:                  |
|                             |                   | requires engine='graphrag'                  |
| graphrag: without engine    | model             | ValidationError:                            |
|                             |                   | only valid when engine='graphrag'           |
| community_level out of 0-5  | model, loader     | ValidationError, ConfigError:               |
|                             |                   | community_level must be 0-5                 |
| the source is not there     | initialize()      | SourceNotFoundError, a FileNotFoundError:   |
|                             |                   | Source path not found: {path}               |
| no API key                  | initialize()      | MissingKeyError, an IndexingError:          |
|                             |                   | API key required for {provider}             |
| a step of the build fails   | initialize()      | IndexingError, from its cause:              |
|                             |                   | GraphRAG indexing failed: {step}, {error}   |
| search before initialize    | search()          | NotInitializedError, a RuntimeError:        |
|                             |                   | call initialize() first                     |
| a table cannot be read      | load_table()      | TableNotFoundError, a FileNotFoundError:    |
|                             |                   | the table and its folder                    |
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.config.loader import load_agent
from holodeck.errors import (
    ConfigError,
    IndexingError,
    MissingKeyError,
    NotInitializedError,
    SourceNotFoundError,
    TableNotFoundError,
)
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = pytest.mark.integration

TOOL = VectorstoreTool(name="k", source="docs", engine="graphrag")

HIDDEN = """
import sys
from importlib.machinery import PathFinder

class Hiding:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.startswith("graphrag") else PathFinder.find_spec(name, path, target)

sys.meta_path = [Hiding if finder is PathFinder else finder for finder in sys.meta_path]
from holodeck.lib.graphrag import GRAPHRAG_AVAILABLE, GraphRAGEngine, require_graphrag
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

tool = VectorstoreTool(name="k", source="docs", engine="graphrag")
assert GRAPHRAG_AVAILABLE is False
for call in (require_graphrag, lambda: GraphRAGEngine(tool), lambda: VectorStoreTool(tool)):
    try:
        call()
    except ImportError as error:
        assert "pip install holodeck[graphrag]" in str(error), error
    else:
        raise AssertionError(call)
print("told")
"""


def python(code: str, *words: str) -> str:
    """Return what a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def documents(base: Path) -> Path:
    (base / "docs").mkdir()
    (base / "docs" / "a.txt").write_text("Ann Lee runs Orion Labs in Paris.", encoding="utf-8")
    return base


def loading_error(base: Path, tool: str) -> str:
    """Return what is said of an agent with this tool."""
    (base / "docs").mkdir()
    file = base / "agent.yaml"
    file.write_text(
        f"name: a\nmodel: {{provider: embedded}}\ntools: [{{name: k, source: docs, {tool}}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        load_agent(file)
    return str(caught.value)


def test_graphrag_not_installed(tmp_path: Path) -> None:
    """An ``ImportError`` that names the extra, from all three doors."""
    assert python(HIDDEN, str(tmp_path)) == "told\n"


def test_invalid_engine(tmp_path: Path) -> None:
    """A ``ValidationError`` in Python, both names in what the loader says."""
    with pytest.raises(ValidationError, match="'default' or 'graphrag'"):
        VectorstoreTool.model_validate({"name": "k", "source": "docs", "engine": "lucene"})

    assert "'default' or 'graphrag'" in loading_error(tmp_path, "engine: lucene")


def test_a_tool_of_another_engine() -> None:
    """A ``ValueError`` that says which engine it is for."""
    with pytest.raises(ValueError, match="engine='graphrag'"):
        GraphRAGEngine(VectorstoreTool(name="k", source="docs"))


def test_graphrag_settings_without_the_engine() -> None:
    """They would do nothing, so they are refused."""
    with pytest.raises(ValidationError, match="only valid when engine='graphrag'"):
        VectorstoreTool.model_validate({"name": "k", "source": "docs", "graphrag": {}})


@pytest.mark.parametrize("level", [-1, 6])
def test_invalid_community_level(level: int, tmp_path: Path) -> None:
    """A ``ValidationError`` in Python, the limits in what the loader says."""
    setting: dict[str, Any] = {"community_level": level}
    with pytest.raises(ValidationError, match="community_level"):
        VectorstoreTool.model_validate(
            {"name": "k", "source": "docs", "engine": "graphrag", "graphrag": setting}
        )

    said = loading_error(tmp_path, f"engine: graphrag, graphrag: {{community_level: {level}}}")
    assert "community_level must be 0-5" in said


async def test_missing_source(tmp_path: Path) -> None:
    """A ``FileNotFoundError`` with the whole path, before a key is looked for."""
    with pytest.raises(FileNotFoundError, match=f"Source path not found: {tmp_path / 'docs'}") as e:
        await VectorStoreTool(TOOL, str(tmp_path), environ={}).initialize()

    assert isinstance(e.value, SourceNotFoundError)


async def test_missing_key(tmp_path: Path) -> None:
    """An ``IndexingError`` and a configuration error, before a document is read."""
    with pytest.raises(IndexingError, match="API key required for openai") as caught:
        await VectorStoreTool(TOOL, str(documents(tmp_path)), environ={}).initialize()

    assert isinstance(caught.value, MissingKeyError)
    assert caught.value.exit_code == 2
    assert not (tmp_path / ".holodeck").exists()


BROKEN = """
import asyncio, sys
from holodeck.errors import IndexingError
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder
from holodeck.tools.vectorstore_tool import VectorStoreTool

class BrokenSteps:
    version = "broken"
    async def extract(self, text):
        raise LookupError(f"no shelf for {len(text)} characters")

async def main():
    tool = VectorStoreTool(
        VectorstoreTool(name="k", source="docs", engine="graphrag"), sys.argv[1], in_process=True,
        resources=FixedResources(embedder=WordEmbedder(), steps=BrokenSteps()))
    try:
        await tool.initialize()
    except IndexingError as failure:
        error = failure
        print(error)
        causes = []
        while error := error.__cause__:
            causes.append(type(error).__name__)
        print(*causes, tool.status().indexed_at)
    await tool.close()

asyncio.run(main())
"""


def test_a_step_that_fails(tmp_path: Path) -> None:
    """An ``IndexingError`` with the step, the cause, and what is kept; nothing is published."""
    said, cause = python(BROKEN, str(documents(tmp_path))).splitlines()

    assert said.startswith("GraphRAG indexing failed: the step 'extract_graph' failed: LookupError")
    assert "no shelf for 33 characters" in said
    assert "what was paid for is kept" in said
    assert "LookupError" in cause.split()
    assert cause.endswith(" None")


async def test_search_before_initialize(tmp_path: Path) -> None:
    """A ``RuntimeError`` from the tool and from the engine, and never another engine's answer."""
    tool = VectorStoreTool(TOOL, str(documents(tmp_path)), environ={})
    for search in (tool.search, tool.engine.search):
        with pytest.raises(RuntimeError, match=r"call initialize\(\) first") as caught:
            await search("Who runs Orion Labs?")
        assert isinstance(caught.value, NotInitializedError)


@pytest.mark.parametrize("content", [None, b"", b"PAR1 cut"], ids=["missing", "empty", "cut"])
def test_a_table_that_cannot_be_read(content: bytes | None, tmp_path: Path) -> None:
    """A ``FileNotFoundError`` with the table and its folder."""
    storage = GraphRAGStorage(TOOL, tmp_path)
    storage.ensure_directories()
    if content is not None:
        (storage.output_dir / "entities.parquet").write_bytes(content)
    with pytest.raises(
        FileNotFoundError, match=f"table 'entities' .*{storage.output_dir}"
    ) as caught:
        storage.load_table("entities")

    assert isinstance(caught.value, TableNotFoundError)
