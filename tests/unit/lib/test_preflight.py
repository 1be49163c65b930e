"""Before a build costs anything, both models are asked one word."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import IndexingError, MissingKeyError
from holodeck.lib.preflight import ask_models_once
from holodeck.lib.resources import Resources, resolve_tool
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import Fault, ModelServer
from holodeck.tools.vectorstore_tool import VectorStoreTool

_opened: list[str] = []
"""Files that were opened since a test emptied this."""


def _note_opened(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        _opened.append(str(arguments[0]))


sys.addaudithook(_note_opened)

PROVIDERS = ("openai", "azure_openai", "ollama")


@pytest.fixture(params=PROVIDERS)
def agent(request: pytest.FixtureRequest, model_server: ModelServer) -> LLMProvider:
    """Return an agent's model at the server, of each provider in turn."""
    return LLMProvider.model_validate(
        {"provider": request.param, "name": "m", "api_base": model_server.root, "api_key": "k"}
    )


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder with one document."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Ann runs Orion.", encoding="utf-8")
    return tmp_path / "docs"


def tool(docs: Path, engine: str = "default", **settings: Any) -> VectorstoreTool:
    return VectorstoreTool.model_validate(
        {"name": "t", "source": str(docs), "engine": engine, **settings}
    )


async def probe(
    docs: Path, agent: LLMProvider, engine: str = "graphrag", **settings: Any
) -> tuple[int | None, Resources]:
    resources = Resources(ExecutionConfig(max_retries=0), environ={})
    try:
        resolved = resolve_tool(tool(docs, engine, **settings), agent)
        return await ask_models_once(resolved, resources), resources
    finally:
        await resources.close()


def test_opening_a_file_is_noticed(docs: Path) -> None:
    """What the rule about keys relies on."""
    _opened.clear()
    (docs / "a.txt").read_bytes()

    assert _opened == [str(docs / "a.txt")]


async def test_each_model_is_asked_one_word(
    docs: Path, agent: LLMProvider, model_server: ModelServer
) -> None:
    """One tiny chat and one vector, whose width comes back; both are counted as what they are."""
    width, resources = await probe(docs, agent)

    asked = [one for one in model_server.requests if one.kind == "probe"]
    assert [one.is_chat for one in asked] == [True, False]
    assert [one.text for one in asked] == ["ping", "ping"]
    assert width == 256
    assert resources.meter.usage()["probe"].calls == 2


async def test_the_default_engine_has_one_model(
    docs: Path, agent: LLMProvider, model_server: ModelServer
) -> None:
    """Only the model that a build uses is asked."""
    await probe(docs, agent, "default")

    assert [one.is_embedding for one in model_server.requests if one.kind == "probe"] == [True]


@pytest.mark.parametrize("status", [401, 404])
@pytest.mark.parametrize("engine", ["default", "graphrag"])
async def test_a_model_that_cannot_be_used_stops_the_build(
    docs: Path, agent: LLMProvider, model_server: ModelServer, engine: str, status: int
) -> None:
    """URL, model and setting are named, and that nothing was spent."""
    model_server.fault(Fault(kind="probe", status=status))

    with pytest.raises(IndexingError, match="nothing was spent") as caught:
        await probe(docs, agent, engine)

    where = "graphrag.indexing_model" if engine == "graphrag" else "embedding_model"
    for named in (model_server.root, where, "'m'" if engine == "graphrag" else "embed"):
        assert named in str(caught.value)


async def test_a_setting_that_the_model_refuses_is_found(
    docs: Path, model_server: ModelServer
) -> None:
    """The settings of the work are tried: a thinking model takes no temperature."""
    thinker = LLMProvider(
        provider="openai", name="o3-mini", api_base=model_server.url, api_key="k", temperature=0.0
    )
    with pytest.raises(IndexingError, match="temperature"):
        await probe(docs, thinker)

    await probe(docs, thinker.model_copy(update={"temperature": None}))
    assert "max_completion_tokens" not in model_server.requests[-2].body


async def test_a_busy_server_is_no_reason_to_stop(
    docs: Path, agent: LLMProvider, model_server: ModelServer
) -> None:
    """The build itself waits longer than a probe; the width is then not known yet."""
    model_server.fault(Fault(kind="probe", status=429))

    width, _ = await probe(docs, agent)

    assert width is None


async def test_a_provider_without_a_server_is_not_asked(docs: Path) -> None:
    """Where the models are in this process there is nothing to find out."""
    width, resources = await probe(docs, LLMProvider(provider="embedded"))

    assert width is None
    assert resources.meter.usage() == {}


@pytest.fixture
def two_servers() -> Iterator[tuple[ModelServer, ModelServer]]:
    """Return one server for chat and another for vectors."""
    with ModelServer() as chat, ModelServer() as vectors:
        yield chat, vectors


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_chat_and_vectors_may_have_servers_of_their_own(
    docs: Path, two_servers: tuple[ModelServer, ModelServer], provider: str, suffix: str
) -> None:
    """Each server gets its calls and no other, however the addresses are spelled."""
    chat, vectors = two_servers
    agent = LLMProvider.model_validate(
        {"provider": provider, "name": "m", "api_key": "k", "api_base": f"{chat.root}{suffix}"}
    )
    await probe(docs, agent, embedding_model={"name": "e", "api_base": f"{vectors.root}{suffix}"})

    assert {one.is_chat for one in chat.requests if one.kind == "probe"} == {True}
    assert {(one.is_chat, one.model) for one in vectors.requests if one.kind == "probe"} == {
        (False, "e")
    }


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_wrong_address_of_the_vectors_is_found_before_anything_is_extracted(
    docs: Path, model_server: ModelServer, provider: str
) -> None:
    """The message names address, model and the block's own path; no chunk was sent."""
    agent = LLMProvider.model_validate(
        {"provider": provider, "name": "m", "api_key": "k", "api_base": model_server.root}
    )
    block = {"name": "e", "api_base": f"{model_server.root}/wrong"}
    runtime = VectorStoreTool(
        tool(docs, "graphrag", embedding_model=block),
        base_dir=str(docs.parent),
        agent_model=agent,
        environ={},
    )
    with pytest.raises(IndexingError, match="/wrong") as caught:
        await runtime.initialize()
    await runtime.close()

    assert "'e'" in str(caught.value)
    assert "embedding_model" in str(caught.value)
    assert model_server.counts["extract"].calls == 0


@pytest.mark.parametrize("engine", ["default", "graphrag"])
@pytest.mark.parametrize("key", [None, "", "  ", "${OPENAI_API_KEY}"])
async def test_a_missing_key_is_found_before_a_source_is_read(
    tmp_path: Path, engine: str, key: str | None
) -> None:
    """With 200 files waiting, none is opened; nothing is made."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number}.txt").write_text(f"Document {number}.", encoding="utf-8")
    environ = {} if key is None else {"OPENAI_API_KEY": key}
    runtime = VectorStoreTool(
        tool(folder, engine, strict=True), base_dir=str(tmp_path), environ=environ
    )
    _opened.clear()
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY") as caught:
        await runtime.initialize()
    await runtime.close()

    assert [path for path in _opened if path.startswith(str(folder))] == []
    assert str(caught.value.field).endswith("api_key")
    assert not (tmp_path / ".holodeck").exists()
