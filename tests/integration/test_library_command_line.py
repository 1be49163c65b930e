"""An index of ours answers the graphrag library's own command line."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.errors import ConfigError
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.heavy]

KEY = "sk-test-CANARY-123"
TOOL = VectorstoreTool(
    name="k",
    engine="graphrag",
    source="docs",
    graphrag=GraphRAGConfig(settings_file=True, max_gleanings=0),
)


def query(root: Path, method: str) -> str:
    """Return what the library's command line prints."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "graphrag",
            "query",
            "--root",
            str(root),
            "--method",
            method,
            "Ann?",
        ],
        env={**os.environ, "GRAPHRAG_API_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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


async def test_a_settings_file_that_could_not_be_used_is_refused(tmp_path: Path) -> None:
    """The embedded provider is ours alone; it is said before anything is built."""
    (tmp_path / "docs").mkdir()
    graph = GraphRAGEngine(TOOL, str(tmp_path), agent_model=LLMProvider(provider="embedded"))

    with pytest.raises(ConfigError, match="settings_file"):
        await graph.initialize()
    assert not graph.storage.storage_dir.exists()
