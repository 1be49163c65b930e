"""What the rules of the contract stand on: the factory, the flags, projects that are built once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from holodeck.errors import IndexingError, ProviderError
from holodeck.lib.contracts import Embedder
from holodeck.lib.results import SearchResult
from holodeck.models.config import ExecutionConfig
from holodeck.testing.project import change_documents, copy_project, write_documents
from holodeck.testing.words import WordEmbedder
from holodeck.tools.vectorstore_tool import VectorStoreTool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ContractBase", "Project", "ask"]


class _FailingEmbedder(WordEmbedder):
    """Fail when it is asked for vectors."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ProviderError(f"no vectors for {len(texts)} text(s): the test lets this fail")


@dataclass(frozen=True, kw_only=True)
class Project:
    """A folder with documents and an index, and how the index came to be.

    Attributes:
        was_built: What the tool said after ``initialize``.
        embedded: The texts that were embedded for it, where the engine takes an embedder.
        stats: What the tool said that the index holds.
    """

    folder: Path
    was_built: bool
    embedded: tuple[str, ...]
    stats: dict[str, int]


def ask(tool: VectorStoreTool, question: str, **options: Any) -> SearchResult:
    """Retrieve in an event loop of its own."""
    return asyncio.run(tool.retrieve(question, **options))


class ContractBase:
    """The factory, the flags and the fixtures."""

    takes_embedder: ClassVar[bool] = True
    """Whether ``make_tool`` can put an embedder of the test into the build."""

    names_embedders: ClassVar[bool] = True
    """Whether the provider of ``make_tool`` has more than one embedding model."""

    supports_answers: ClassVar[bool] = False
    """Whether ``retrieve`` makes an answer, in place of showing what it found."""

    has_graph: ClassVar[bool] = False
    """Whether the index holds entities."""

    @classmethod
    def make_tool(
        cls,
        folder: Path,
        *,
        embedder: Embedder | None = None,
        execution: ExecutionConfig | None = None,
        **settings: Any,
    ) -> VectorStoreTool:
        """Return a tool over ``folder/docs`` whose index lies below ``folder``.

        Args:
            folder: What relative paths resolve against.
            embedder: The embedding model; the default is up to you. Only handed in when
                ``takes_embedder``.
            execution: Time budgets.
            settings: Fields of ``VectorstoreTool``.
        """
        raise NotImplementedError("a subclass of EngineContract makes its tool here")

    @classmethod
    def needs(cls, flag: str) -> None:
        """Skip the test where the engine lacks a capability."""
        if not getattr(cls, flag):
            pytest.skip(f"{flag} is False for this engine")

    @classmethod
    def make_failing_tool(cls, folder: Path) -> VectorStoreTool:
        """Return a tool whose build fails with an ``IndexingError`` before it is published."""
        if cls.takes_embedder:
            return cls.make_tool(folder, embedder=_FailingEmbedder())
        return cls.make_tool(folder, execution=ExecutionConfig(index_timeout=0.001))

    @classmethod
    def build(cls, folder: Path, **options: Any) -> Project:
        """Initialise a tool and close it."""
        embedder = WordEmbedder()
        if cls.takes_embedder:
            options = {"embedder": embedder, **options}
        tool = cls.make_tool(folder, **options)

        async def work() -> Project:
            await tool.initialize()
            project = Project(
                folder=folder,
                was_built=tool.engine.was_built,
                embedded=tuple(embedder.embedded),
                stats=tool.index_stats,
            )
            await tool.close()
            return project

        return asyncio.run(work())

    @pytest.fixture(scope="class")
    @classmethod
    def built(cls, tmp_path_factory: pytest.TempPathFactory) -> Project:
        """A project with an index; nobody may change it."""
        folder = tmp_path_factory.mktemp("built")
        write_documents(folder)
        return cls.build(folder)

    @pytest.fixture
    def project(self, built: Project, tmp_path: Path) -> Path:
        """A copy of the built project, all times changed."""
        return copy_project(built.folder, tmp_path / "project")

    @pytest.fixture(scope="class")
    @classmethod
    def updated(
        cls, built: Project, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[tuple[Project, VectorStoreTool]]:
        """A project whose documents changed, updated after a failure; and a tool opened before."""
        folder = copy_project(built.folder, tmp_path_factory.mktemp("updated") / "project")
        reader = cls.make_tool(folder)
        asyncio.run(reader.initialize())
        change_documents(folder)
        with pytest.raises(IndexingError, match="kept"):
            asyncio.run(cls.make_failing_tool(folder).initialize())
        yield cls.build(folder), reader
        asyncio.run(reader.close())

    @pytest.fixture(scope="class")
    @classmethod
    def opened(cls, built: Project) -> Iterator[VectorStoreTool]:
        """The built project, opened for search in a loop that is gone."""
        tool = cls.make_tool(built.folder)
        asyncio.run(tool.initialize())
        yield tool
        asyncio.run(tool.close())
