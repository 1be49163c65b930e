"""Builds that were killed, failed or interrupted ask again for nothing that was answered."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

import holodeck
from holodeck.cli import main
from holodeck.errors import IndexingError
from holodeck.lib.indexes.ledger import LEDGER_FILE
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import Fault, ModelServer
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

AGENT = """\
name: analyst
model: {{provider: openai, name: gpt-4o-mini, api_base: "{url}", api_key: k}}
tools:
  - {{name: k, type: vectorstore, engine: graphrag, source: docs, graphrag: {{max_gleanings: 2}}}}
execution: {{concurrency: 2}}
"""
PEOPLE = [f"Ann{n} Lee{n}" for n in range(10)]
CHAINS = ("extract", "glean", "report", "summarize")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ModelServer) -> Path:
    (tmp_path / "docs").mkdir()
    for number, name in enumerate(PEOPLE):
        text = f"{name} works for Acme Corp with Bob{number} Ray{number}."
        (tmp_path / "docs" / f"{number}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT.format(url=server.url), encoding="utf-8")
    return tmp_path


def asked(server: ModelServer) -> Counter[str]:
    return Counter({kind: server.counts[kind].calls for kind in CHAINS})


def prompts(server: ModelServer) -> Counter[str]:
    """Return how often each conversation was asked, but the word on whether there is more."""
    return Counter(
        json.dumps(request.body["messages"])
        for request in server.requests
        if request.kind in CHAINS and len(request.user_texts) != 3
    )


def price_of_a_cold_build(project: Path, server: ModelServer) -> Counter[str]:
    """Return the calls of a build with no cache, which leaves none behind."""
    execution = ExecutionConfig(concurrency=2, cache=False)
    tool = VectorStoreTool(
        VectorstoreTool(
            name="cold",
            engine="graphrag",
            source="docs",
            graphrag=GraphRAGConfig(max_gleanings=2, storage_dir=".cold"),
        ),
        str(project),
        execution,
        agent_model=LLMProvider.model_validate(
            {"name": "gpt-4o-mini", "api_base": server.url, "api_key": "k"}
        ),
        environ={},
    )
    asyncio.run(tool.initialize())
    asyncio.run(tool.close())
    price = asked(server)
    server.reset_counts()
    return price


def start(project: Path) -> subprocess.Popen[str]:
    """Begin a build in another process."""
    return subprocess.Popen(
        [sys.executable, "-m", "holodeck", "index"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.heavy
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_build_goes_on(
    how: signal.Signals, project: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C and a kill cost at most what was in flight; Ctrl-C is prompt and says one line."""
    price = price_of_a_cold_build(project, server)
    child = start(project)
    server.wait_for(9, timeout=90)
    server.pause()
    begun = time.monotonic()
    child.send_signal(how)
    _, shown = child.communicate(timeout=60)
    server.resume()
    if how == signal.SIGINT:
        assert child.returncode == 130
        assert time.monotonic() - begun < 30
        assert "Traceback" not in shown
        assert "error: interrupted" in shown

    monkeypatch.chdir(project)
    assert main(["-q", "index"]) == 0

    total = asked(server)
    assert sum(total.values()) <= sum(price.values()) + 2
    assert max(prompts(server).values()) <= 2
    ledger = project / ".holodeck" / "graphrag" / "k" / LEDGER_FILE
    noted = [json.loads(line) for line in ledger.read_text("utf-8").splitlines()]
    assert sum(row["calls"] for row in noted if row["purpose"] == "extract") >= len(PEOPLE) - 2


async def test_a_failed_build_goes_on(project: Path, server: ModelServer) -> None:
    """What was answered before a failure is not asked for again, a first pass by itself."""
    server.fault(Fault(kind="glean", status=401))
    tool = holodeck.load_agent(project / "agent.yaml").tool()
    with pytest.raises(IndexingError):
        await tool.initialize()
    paid = server.counts["extract"].calls
    server.heal()

    await tool.initialize()
    await tool.close()

    assert server.counts["extract"].calls == len(PEOPLE)
    assert paid > 0
