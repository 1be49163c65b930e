"""Every engine passes one contract."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.register_assert_rewrite(
    "holodeck.testing.contract_base",
    "holodeck.testing.contract_index",
    "holodeck.testing.contract_search",
)

from holodeck.errors import IndexBusyError, MissingKeyError
from holodeck.lib.contracts import Embedder
from holodeck.lib.engines import ENGINES
from holodeck.lib.indexes.builder_lock import builder_lock
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.contract import EngineContract
from holodeck.testing.project import FACTS
from holodeck.testing.replies import ServerRequest
from holodeck.testing.resources import FixedResources
from holodeck.testing.server import ModelServer
from holodeck.testing.words import WordEmbedder
from holodeck.tools.vectorstore_tool import VectorStoreTool


@pytest.mark.integration
class TestDefaultEngine(EngineContract):
    """The default engine, with an embedder that counts."""

    engine: ClassVar[str] = "default"

    @classmethod
    def make_tool(
        cls,
        folder: Path,
        *,
        embedder: Embedder | None = None,
        execution: ExecutionConfig | None = None,
        **settings: Any,
    ) -> VectorStoreTool:
        """Return a tool whose vectors can be computed by hand."""
        return VectorStoreTool(
            VectorstoreTool(name="knowledge", source="docs", **settings),
            str(folder),
            execution,
            resources=FixedResources(embedder=embedder or WordEmbedder()),
        )


@pytest.mark.integration
@pytest.mark.slow
@pytest.mark.xdist_group("graph contract")
class TestGraphEngine(EngineContract):
    """The graph engine, without a key: it builds in a child process, three times in all."""

    engine: ClassVar[str] = "graphrag"
    takes_embedder = False
    names_embedders = False
    supports_answers = True
    has_graph = True

    @classmethod
    def make_tool(
        cls,
        folder: Path,
        *,
        embedder: Embedder | None = None,
        execution: ExecutionConfig | None = None,
        **settings: Any,
    ) -> VectorStoreTool:
        """Return a tool whose models are the embedded ones."""
        assert embedder is None, "its models live in the child process"
        return VectorStoreTool(
            VectorstoreTool(name="knowledge", source="docs", engine="graphrag", **settings),
            str(folder),
            execution,
            agent_model=LLMProvider(provider="embedded"),
        )


def quote(request: ServerRequest) -> str:
    """Answer as a model does that reads its prompt: with the fact, where the prompt holds it."""
    fact = FACTS["text"].answer
    known = fact if fact in request.text else "Nobody"
    return f"{known} runs it [Data: Sources (0)]."


class OverTheWire(EngineContract):
    """An engine whose models are behind a wire: provider ``openai``, against the model server."""

    engine: ClassVar[str]
    takes_embedder = False
    server: ClassVar[ModelServer]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _serving(cls) -> Iterator[None]:
        with ModelServer() as server:
            server.reply("local", quote)
            cls.server = server
            yield

    @classmethod
    def make_tool(
        cls,
        folder: Path,
        *,
        embedder: Embedder | None = None,
        execution: ExecutionConfig | None = None,
        **settings: Any,
    ) -> VectorStoreTool:
        """Return a tool all of whose models are the server's."""
        assert embedder is None, "its models are behind a wire"
        model = {"provider": "openai", "name": "gpt-4o", "api_base": cls.server.url, "api_key": "k"}
        return VectorStoreTool(
            VectorstoreTool.model_validate(
                {"name": "knowledge", "source": "docs", "engine": cls.engine, **settings}
            ),
            str(folder),
            execution,
            agent_model=LLMProvider.model_validate(model),
        )


@pytest.mark.integration
class TestDefaultEngineOverTheWire(OverTheWire):
    """The default engine asks for vectors only."""

    engine = "default"


@pytest.mark.integration
@pytest.mark.slow
@pytest.mark.xdist_group("graph contract over the wire")
class TestGraphEngineOverTheWire(OverTheWire):
    """The graph engine asks for everything: extraction, reports, vectors, answers."""

    engine = "graphrag"
    supports_answers = True
    has_graph = True


def test_every_engine_is_under_contract() -> None:
    """An engine in the table has a class above."""
    under_contract = {
        value.engine
        for value in globals().values()
        if isinstance(value, type)
        and issubclass(value, EngineContract)
        and hasattr(value, "engine")
    }

    assert under_contract == set(ENGINES)


def write_document(folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.txt").write_text("Ann runs Orion", encoding="utf-8")


@pytest.mark.parametrize("engine", ENGINES)
async def test_who_does_not_wait_for_a_builder_is_told_its_name(
    engine: str, tmp_path: Path
) -> None:
    """``wait_for_builder=False`` reaches every engine; the error names the other process."""
    write_document(tmp_path)
    tool = VectorStoreTool(
        VectorstoreTool.model_validate({"name": "k", "source": "docs", "engine": engine}),
        str(tmp_path),
        agent_model=LLMProvider(provider="embedded"),
        wait_for_builder=False,
    )
    lock = Path(tool.status().location) / ".lock"
    lock.parent.mkdir(parents=True)

    async with builder_lock(lock, "k", wait_seconds=0):
        with pytest.raises(IndexBusyError, match=f"process {os.getpid()} on "):
            await tool.initialize()


@pytest.mark.parametrize("engine", ENGINES)
async def test_keys_come_from_the_environment_that_was_handed_in(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent's own variables count, not those of the process; a missing key is told at once."""
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-process")
    write_document(tmp_path)
    tool = VectorStoreTool(
        VectorstoreTool.model_validate({"name": "k", "source": "docs", "engine": engine}),
        str(tmp_path),
        environ={},
    )

    with pytest.raises(MissingKeyError, match="API key required for openai"):
        await tool.initialize()
    assert not (tmp_path / ".holodeck").exists()
