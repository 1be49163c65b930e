"""An index of ours answers the graphrag library's own command line, and one of theirs ours."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

import holodeck
from holodeck.errors import ConfigError
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.heavy, pytest.mark.timeout(300)]

KEY = "sk-test-CANARY-123"
TOOL = VectorstoreTool(
    name="k",
    engine="graphrag",
    source="docs",
    graphrag=GraphRAGConfig(settings_file=True, max_gleanings=0),
)


def run(program: str, *words: str) -> str:
    """Return what a command line prints."""
    done = subprocess.run(
        [sys.executable, "-m", program, *words],
        env={
            **os.environ,
            "GRAPHRAG_API_KEY": KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "PYTHONPATH": str(Path(holodeck.__file__).parents[1]),
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def query(root: Path, method: str) -> str:
    """Return what the library's command line answers."""
    return run("graphrag", "query", "--root", str(root), "--method", method, "Ann?")


async def test_the_library_queries_what_we_built(tmp_path: Path) -> None:
    """Local and global, without conversion; the settings file follows the index and has no key."""
    (tmp_path / "docs").mkdir()
    for name in ("Ann Lee", "Bob Ray", "Cara Fox"):
        text = f"{name} works for Acme Corp in San Francisco."
        (tmp_path / "docs" / f"{name}.txt").write_text(text, encoding="utf-8")
    with ModelServer(api_key=KEY) as server:
        model = LLMProvider.model_validate(
            {"provider": "openai", "name": "gpt-4o", "api_base": server.url, "api_key": KEY}
        )
        graph = GraphRAGEngine(TOOL, str(tmp_path), agent_model=model, environ={})
        await graph.initialize()
        await graph.initialize(force_reindex=True)
        await graph.close()
        root = graph.storage.storage_dir
        settings = (root / "settings.yaml").read_text(encoding="utf-8")

        assert KEY not in settings
        assert json.loads(settings)["output_storage"]["base_dir"] == str(graph.storage.output_dir)
        assert "[Data: Sources" in await asyncio.to_thread(query, root, "local")
        assert "[Data: Reports" in await asyncio.to_thread(query, root, "global")


def write_library_project(root: Path, url: str) -> None:
    """Write documents and settings as the library's command line takes them."""
    (root / "input").mkdir(parents=True)
    for name in ("Ann Lee", "Bob Ray", "Cara Fox"):
        text = f"{name} works for Acme Corp in San Francisco."
        (root / "input" / f"{name}.txt").write_text(text, encoding="utf-8")
    model = {"model_provider": "openai", "api_key": "${GRAPHRAG_API_KEY}", "api_base": url}
    settings = {
        "completion_models": {"default_completion_model": {**model, "model": "gpt-4o"}},
        "embedding_models": {"default_embedding_model": {**model, "model": "e"}},
        "vector_store": {"type": "lancedb", "db_uri": "output/lancedb", "vector_size": 256},
    }
    (root / "settings.yaml").write_text(json.dumps(settings), encoding="utf-8")


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


AGENT = """\
name: reader
model: {{provider: openai, name: gpt-4o, api_base: "{url}", api_key: {key}}}
tools:
  - name: theirs
    type: vectorstore
    engine: graphrag
    source: {source}
    embedding_model: e
    graphrag: {{storage_dir: {storage}}}
"""


def test_what_the_library_built_is_searched_by_our_command_line(tmp_path: Path) -> None:
    """Where it lies, without conversion; status names who built it, and nothing is changed."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ours.mkdir()
    agent = ("--agent", str(ours / "agent.yaml"))
    with ModelServer(api_key=KEY) as server:
        write_library_project(theirs, server.url)
        run("graphrag", "index", "--root", str(theirs))
        before = content(theirs)
        text = AGENT.format(url=server.url, key=KEY, source=theirs / "input", storage=theirs)
        (ours / "agent.yaml").write_text(text, encoding="utf-8")
        state = run("holodeck", "status", *agent)
        found = json.loads(run("holodeck", "search", "Who is Ann Lee?", *agent, "--json"))
        themes = run("holodeck", "search", "Themes?", *agent, "--mode", "global", "--no-index")

    assert "built by graphrag 3.x" in state
    assert "up to date" in state
    assert found["response"]
    assert "Ann Lee.txt" in {source["path"] for source in found["sources"]}
    assert "[Data: Reports" in themes
    assert content(theirs) == before


DATA = os.environ.get("HOLODECK_DATA", "")


@pytest.mark.skipif(not DATA, reason="HOLODECK_DATA names no folder with data from outside")
def test_an_index_of_the_library_s_makers_is_searched_by_our_command_line(tmp_path: Path) -> None:
    """Its vectors are 3,072 numbers wide: another model says so, and the right one answers."""
    index = Path(DATA).absolute() / "dulce" / "index"
    agent = ("--agent", str(tmp_path / "agent.yaml"))
    before = content(index)
    with ModelServer(api_key=KEY, embedding_width=3072) as server:
        text = AGENT.format(url=server.url, key=KEY, source="none", storage=index)
        (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
        found = json.loads(run("holodeck", "search", "Who is Agent Mercer?", *agent, "--json"))
        themes = run("holodeck", "search", "Themes?", *agent, "--mode", "global")

    assert {source["path"] for source in found["sources"]} == {"dulce.txt"}
    assert "dulce.txt" in themes
    assert content(index) == before


def test_a_settings_file_that_could_not_be_used_is_refused(tmp_path: Path) -> None:
    """The embedded provider is ours alone; it is said before anything is built."""
    (tmp_path / "docs").mkdir()
    tool = VectorstoreTool(
        name="k", engine="graphrag", source="docs", graphrag=GraphRAGConfig(settings_file=True)
    )

    with pytest.raises(ConfigError, match="settings_file"):
        GraphRAGEngine(tool, str(tmp_path), agent_model=LLMProvider(provider="embedded"))
    assert not (tmp_path / ".holodeck").exists()
