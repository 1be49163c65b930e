"""A build that is killed at any point of it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.heavy, pytest.mark.timeout(240)]

CONCURRENCY = 2
NAMES = [f"Person Number{n}" for n in range(12)]
KILLED_AT = [
    ("extract", 0),
    ("extract", 5),
    ("extract", 12),
    ("communities", 1),
    ("reports", 1),
    ("embed", 12),
    ("publish", 0),
    ("publish", 1),
]
"""Steps and how many of their items are done when the process is killed."""

BUILD = """
import asyncio, os, sys
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
base, url, step, done = sys.argv[1:]
def report(progress):
    if progress.step == step and progress.done >= int(done):
        os.kill(os.getpid(), 9)
graph = GraphRAGEngine(
    VectorstoreTool(name="k", engine="graphrag", source="docs",
                    graphrag=GraphRAGConfig(max_gleanings=0)),
    base,
    ExecutionConfig(concurrency=2),
    agent_model=LLMProvider(provider="openai", name="gpt-4o", api_base=url, api_key="k"),
    environ={},
    on_progress=report,
)
asyncio.run(graph.initialize())
"""


def engine(base: Path, server: ModelServer) -> GraphRAGEngine:
    return GraphRAGEngine(
        VectorstoreTool(
            name="k",
            engine="graphrag",
            source="docs",
            graphrag=GraphRAGConfig(max_gleanings=0),
        ),
        str(base),
        ExecutionConfig(concurrency=CONCURRENCY),
        agent_model=LLMProvider.model_validate(
            {"provider": "openai", "name": "gpt-4o", "api_base": server.url, "api_key": "k"}
        ),
        environ={},
    )


def write(base: Path, company: str) -> None:
    """Write documents in which everybody works for ``company``."""
    (base / "docs").mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(NAMES):
        text = f"{name} works for {company}."
        (base / "docs" / f"{number}.txt").write_text(text, encoding="utf-8")


async def build(base: Path, server: ModelServer) -> str:
    """Build or open, and return the context of a question."""
    graph = engine(base, server)
    await graph.initialize()
    context = (await graph.retrieve("Who works where?", answer=False)).context
    await graph.close()
    return context


async def open_as_it_is(base: Path, server: ModelServer) -> str:
    graph = engine(base, server)
    await graph.open_existing()
    context = (await graph.retrieve("Who works where?", answer=False)).context
    await graph.close()
    return context


def paid(server: ModelServer) -> int:
    """Return the calls that a build makes: everything but the questions."""
    return sum(
        server.counts[kind].calls
        for kind in ("extract", "summarize", "report")
        if kind in server.counts
    )


def test_every_kill_leaves_an_index_and_costs_what_was_in_flight(tmp_path: Path) -> None:
    """The old index answers or the new one does; the next build finishes and pays for the rest.

    All runs together ask for at most what one build from nothing asks for, and what was in flight
    at each kill.
    """
    with ModelServer() as cold:
        write(tmp_path / "cold", "Vega Works")
        asyncio.run(build(tmp_path / "cold", cold))
        price = paid(cold)

    with ModelServer() as server:
        base = tmp_path / "killed"
        write(base, "Orion Labs")
        asyncio.run(build(base, server))
        write(base, "Vega Works")
        server.reset_counts()
        for step, done in KILLED_AT:
            child = subprocess.run(
                [sys.executable, "-c", BUILD, str(base), server.url, step, str(done)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            assert child.returncode == -signal.SIGKILL, (step, done, child.stderr)
            context = asyncio.run(open_as_it_is(base, server))
            is_new = (step, done) == ("publish", 1)
            assert ("Vega Works" in context) == is_new, (step, done)
            assert ("Orion Labs" in context) != is_new, (step, done)

        assert "Vega Works" in asyncio.run(build(base, server))
        assert paid(server) <= price + CONCURRENCY * len(KILLED_AT)
