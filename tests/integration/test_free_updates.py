"""What changes no text asks no server for anything, not even whether it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.contracts import Estimate
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import ModelServer
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ENGINES: dict[str, dict[str, Any]] = {
    "default": {"embedding_model": "openai/text-embedding-3-small"},
    "graphrag": {"engine": "graphrag"},
}
NO_TEXT_IS_SO_LONG: dict[str, dict[str, Any]] = {
    "default": {"chunk_size": 200},
    "graphrag": {"graphrag": {"chunk_size": 200, "chunk_overlap": 20}},
}


def move(docs: Path) -> None:
    (docs / "sub").mkdir()
    (docs / "a.txt").rename(docs / "sub" / "b.txt")


CHANGES: dict[str, tuple[Callable[[Path], object] | None, dict[str, Any]]] = {
    "a move": (move, {}),
    "a copy": (lambda docs: (docs / "c.txt").write_bytes((docs / "sub/b.txt").read_bytes()), {}),
    "a file that cannot be read": (lambda docs: (docs / "c.xyz").touch(), {}),
    "that file gone": (lambda docs: (docs / "c.xyz").unlink(), {}),
    "settings that no text shows": (
        None,
        {"strict": True, "allow_external_links": True, "encoding_fallback": "cp437"},
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_change_that_no_text_shows_is_free(engine: str, tmp_path: Path) -> None:
    """Neither the build nor its estimate counts a call; afterwards the index is up to date."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("Ann Lee works for Acme Corp.", encoding="utf-8")
    with ModelServer() as server:

        def tool(**more: Any) -> VectorStoreTool:
            return VectorStoreTool(
                VectorstoreTool.model_validate(
                    {"name": "k", "source": "docs", **ENGINES[engine], **more}
                ),
                base_dir=str(tmp_path),
                execution_config=ExecutionConfig(),
                agent_model=LLMProvider.model_validate(
                    {"provider": "openai", "name": "gpt-4o", "api_base": server.url, "api_key": "k"}
                ),
                environ={},
            )

        asyncio.run(_initialize(tool()))
        asked = len(server.requests)
        assert asked > 0
        for change, (act, settings) in CHANGES.items():
            chosen = settings and {**settings, **NO_TEXT_IS_SO_LONG[engine]}
            if act is not None:
                act(docs)
            assert tool(**chosen).status().stale_reason is not None, change
            estimate = asyncio.run(_initialize(tool(**chosen)))

            assert estimate.rows == (), change
            assert len(server.requests) == asked, change
            assert tool(**chosen).status().stale_reason is None, change


async def _initialize(tool: VectorStoreTool) -> Estimate:
    estimate = await tool.estimate()
    await tool.initialize()
    await tool.close()
    return estimate
