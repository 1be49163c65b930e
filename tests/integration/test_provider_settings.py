"""Timeouts and embedding models of YAML, seen from both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.errors import HolodeckError, SearchError
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
    server: ModelServer,
    docs: Path,
    engine: str,
    *,
    timeout: float = 60,
    cache: bool | Literal["renew"] = True,
    **settings: Any,
) -> VectorStoreTool:
    config = {"name": "people", "source": str(docs), "engine": engine, **settings}
    return VectorStoreTool(
        VectorstoreTool.model_validate(config),
        base_dir=str(docs.parent),
        execution_config=ExecutionConfig(llm_timeout=timeout, max_retries=0, cache=cache),
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


SLOWLY = ("default", pytest.param("graphrag", marks=pytest.mark.heavy))
"""The engines, for what takes several builds."""

QUESTION = "Who works for Acme?"


async def built(server: ModelServer, docs: Path, engine: str, **settings: Any) -> VectorStoreTool:
    opened = tool(server, docs, engine, **settings)
    await opened.initialize(force_ingest=True)
    return opened


@pytest.mark.parametrize("engine", SLOWLY)
async def test_another_width_under_the_same_name_is_told_and_mended_by_force(
    server: ModelServer, docs: Path, engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A question is refused with both widths and the mend, which re-embeds all, and says so."""
    server.reply("embedding", vectors_of(8))
    first = await built(server, docs, engine)
    assert (await first.retrieve(QUESTION)).sources
    await first.close()
    server.reply("embedding", vectors_of(16))
    old = tool(server, docs, engine)
    await old.initialize()

    with pytest.raises(SearchError, match=r"of 16 numbers.* of 8: .*holodeck index --force"):
        await old.retrieve(f"{QUESTION}?")
    await old.close()
    server.reset_counts()
    new = await built(server, docs, engine)
    texts = {text for one in server.requests if one.is_embedding for text in one.texts}
    found = await new.retrieve(QUESTION)  # its vector of the old width is kept
    await new.close()

    assert texts >= {(docs / f"{number}.txt").read_text("utf-8") for number in range(2)}
    assert found.sources
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(said) == 1
    assert "gives vectors of 16 numbers, and those of the index have 8" in said[0]


@pytest.mark.parametrize("engine", SLOWLY)
async def test_another_width_is_mended_by_the_next_update(
    server: ModelServer, docs: Path, engine: str
) -> None:
    """When a document changes, the vectors of the others are not kept."""
    server.reply("embedding", vectors_of(8))
    await (await built(server, docs, engine)).close()
    server.reply("embedding", vectors_of(16))
    (docs / "0.txt").write_text("Cara Fox works for Acme Corp in Oslo.", encoding="utf-8")

    updated = tool(server, docs, engine)
    await updated.initialize()
    found = await updated.retrieve(QUESTION)
    await updated.close()

    assert found.sources


@pytest.mark.parametrize("engine", SLOWLY)
async def test_renewing_pays_again_and_replaces_what_is_kept(
    server: ModelServer, docs: Path, engine: str
) -> None:
    """New vectors of the same width are asked for, kept, and used by the builds that follow."""
    server.reply("embedding", lambda request: [[1.0, 0.0] for _ in request.texts])
    await (await built(server, docs, engine)).close()
    first = paid(server)
    server.reply("embedding", lambda request: [[0.0, 1.0] for _ in request.texts])

    await (await built(server, docs, engine)).close()
    forced = paid(server)
    await (await built(server, docs, engine, cache="renew")).close()
    renewed = paid(server)
    again = await built(server, docs, engine)
    found = await again.retrieve(QUESTION)
    await again.close()

    assert (forced, renewed) == ([], first)
    assert (QUESTION,) in {one.texts for one in server.requests if one.is_embedding}
    assert found.sources  # at a right angle to what is indexed, nothing would be found


def paid(server: ModelServer) -> list[str]:
    """Return what was asked since the last time, but for the one word that looks for a model."""
    asked = [one for one in server.requests if one.is_chat or one.is_embedding]
    server.reset_counts()
    return sorted(one.text for one in asked if one.text != "ping")


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
