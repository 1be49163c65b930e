"""Timeouts and embedding models of YAML, seen from both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.errors import HolodeckError
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import Fault, ModelServer, ServerRequest
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ENGINES = ("default", "graphrag")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder of two documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, name in enumerate(("Ann Lee", "Bob Ray")):
        text = f"{name} works for Acme Corp in San Francisco."
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Return a healthy server."""
    with ModelServer() as running:
        yield running


def tool(
    server: ModelServer, docs: Path, engine: str, *, timeout: float = 60, **settings: Any
) -> VectorStoreTool:
    config = {"name": "people", "source": str(docs), "engine": engine, **settings}
    return VectorStoreTool(
        VectorstoreTool.model_validate(config),
        base_dir=str(docs.parent),
        execution_config=ExecutionConfig(llm_timeout=timeout, max_retries=0),
        agent_model=LLMProvider(provider="ollama", name="m", api_base=server.root),
        environ={},
    )


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_build_fails_after_the_time_of_the_setting(
    server: ModelServer, docs: Path, engine: str
) -> None:
    """The message names the setting and the call; with more time the same build succeeds."""
    kind = "extract" if engine == "graphrag" else "embedding"
    server.fault(Fault(kind=kind, hang=30))
    hasty = tool(server, docs, engine, timeout=0.5)
    with pytest.raises(HolodeckError, match=r"within 0\.5 s: raise execution\.llm_timeout") as late:
        await hasty.initialize()
    await hasty.close()

    server.heal()
    server.fault(Fault(kind=kind, hang=1))
    patient = tool(server, docs, engine, timeout=20)
    await patient.initialize()
    await patient.close()

    assert ("'extract'" if engine == "graphrag" else "'embed'") in str(late.value)
    assert patient.engine.was_built


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_search_fails_after_the_time_of_the_setting(
    server: ModelServer, docs: Path, engine: str
) -> None:
    """The same for a question: its vector, and its answer where there is one."""
    built = tool(server, docs, engine)
    await built.initialize()
    await built.close()

    server.fault(Fault(kind="embedding", hang=30))
    hasty = tool(server, docs, engine, timeout=0.5)
    await hasty.initialize()
    with pytest.raises(HolodeckError, match=r"'embed' within 0\.5 s: raise execution\.llm_timeout"):
        await hasty.retrieve("Who works for Acme?")
    server.heal()
    if engine == "graphrag":
        server.fault(Fault(kind="local", hang=30))
        with pytest.raises(HolodeckError, match=r"within 0\.5 s: raise execution\.llm_timeout"):
            await hasty.retrieve("Who works for Acme?")
        server.heal()
    server.fault(Fault(hang=0.1))

    assert (await hasty.retrieve("Who works for Acme?")).sources
    await hasty.close()


def vectors_of(width: int) -> Any:
    return lambda request: [[1.0] * width for _ in request.texts]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("width", [1024, 768])
async def test_another_embedding_model_is_noticed_and_everything_embedded_anew(
    server: ModelServer, docs: Path, engine: str, width: int
) -> None:
    """Also when both models give vectors of the same width: the name is part of the index."""
    server.reply("embedding", vectors_of(768))
    first = tool(server, docs, engine, embedding_model="first")
    await first.initialize()
    await first.close()
    server.reply("embedding", vectors_of(width))

    second = tool(server, docs, engine, embedding_model="second")
    reason = second.status().stale_reason
    await second.initialize()
    asked = [one for one in server.requests if one.model == "second" and one.kind == "embedding"]
    result = await second.retrieve("Who works for Acme?")
    await second.close()

    assert reason is not None
    assert "ollama/first" in reason
    assert "ollama/second" in reason
    assert {text for one in asked for text in one.texts} >= {
        (docs / f"{number}.txt").read_text("utf-8") for number in range(2)
    }
    assert result.sources


@pytest.mark.parametrize("engine", ENGINES)
async def test_vectors_of_varying_width_are_refused_naming_the_text(
    server: ModelServer, docs: Path, engine: str
) -> None:
    """An index holds one width; nothing is published."""
    server.reply("embedding", _varying)
    failing = tool(server, docs, engine)
    with pytest.raises(HolodeckError, match=r"text 2 of \d+ \(") as caught:
        await failing.initialize()
    await failing.close()

    assert "the model's width must not change" in str(caught.value)
    assert failing.status().indexed_at is None


def _varying(request: ServerRequest) -> list[list[float]]:
    return [[1.0] * (4 + number) for number, _ in enumerate(request.texts)]
