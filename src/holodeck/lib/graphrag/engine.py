"""The graph engine: answers from a knowledge graph of the documents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from holodeck.errors import TableNotFoundError
from holodeck.lib.contracts import ProgressListener
from holodeck.lib.graphrag import require_graphrag
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.indexer import GraphRAGIndexer
from holodeck.lib.graphrag.open_index import open_foreign, open_generation
from holodeck.lib.graphrag.search import SEARCH_MODES
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.thinkers import SEARCH
from holodeck.lib.indexes.engine import IndexEngine
from holodeck.lib.results import SearchResult, format_graph_result
from holodeck.models.tool import GraphRAGConfig

__all__ = ["GraphRAGEngine"]


class GraphRAGEngine(IndexEngine[IndexMetadata, GraphIndex]):
    """Knowledge-graph search over a folder of documents."""

    name: ClassVar[str] = "graphrag"
    modes: ClassVar[tuple[str, ...]] = tuple(SEARCH_MODES)
    mode_help: ClassVar[Mapping[str, str]] = {
        "local": "for questions about certain people, places, things or events",
        "global": "for questions about the whole of the documents: themes, trends, summaries",
    }
    faster: ClassVar[str] = "a faster search_model"

    _folder: GraphRAGStorage
    _indexer: GraphRAGIndexer

    @classmethod
    def check_packages(cls) -> None:
        """Find out whether the graphrag library is installed, without importing it."""
        require_graphrag()

    def make_folder(self, base_dir: Path) -> GraphRAGStorage:
        """Return the folder of the index."""
        return GraphRAGStorage(self.config, base_dir)

    def make_indexer(
        self, *, in_process: bool, on_progress: ProgressListener | None, wait_for_builder: bool
    ) -> GraphRAGIndexer:
        """Return who builds the index."""
        return GraphRAGIndexer(
            self.config,
            self._folder,
            resolved=self._resolved,
            execution=self._execution,
            resources=self._resources,
            in_process=in_process,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
        )

    @property
    def default_mode(self) -> str:
        """The search mode that the tool is configured with."""
        return (self.config.graphrag or GraphRAGConfig()).search_mode

    @property
    def metadata(self) -> IndexMetadata | None:
        """What the opened index says of itself."""
        return None if self._opened is None else self._opened.record

    @property
    def storage(self) -> GraphRAGStorage:
        """Where the index lies."""
        return self._folder

    @property
    def indexer(self) -> GraphRAGIndexer:
        """Who builds the index."""
        return self._indexer

    def check_search(self) -> None:
        """Find a missing key or package of the search model before any work."""
        graphrag = self._resolved.tool.graphrag
        if graphrag is not None and graphrag.search_model is not None:
            self._resources.check(graphrag.search_model, SEARCH)

    def open_generation(self, record: IndexMetadata) -> GraphIndex:
        """Open the tables and vectors that a record names, or those of a foreign index."""
        foreign = self._folder.foreign
        if foreign is not None:
            return open_foreign(foreign, self._folder.derived_file)
        try:
            return open_generation(
                *self._folder.generation_dirs(record.generation),
                partial(self._folder.check, record, by_content=True),
            )
        except TableNotFoundError as error:
            version = self._indexer.foreign_version(record)
            if version is None:
                raise
            raise TableNotFoundError.of(f"{error.damage}; {version}") from error

    async def answer(
        self, content: GraphIndex, query: str, *, mode: str, answer: bool
    ) -> SearchResult:
        """Answer in ``local`` or ``global`` mode."""
        searcher = SEARCH_MODES[mode](
            self.config,
            self._folder,
            resolved=self._resolved,
            resources=self._resources,
            index=content,
        )
        return await searcher.search(query, answer=answer)

    def render(self, query: str, result: SearchResult) -> str:
        """Return the answer and its sources as the text that an agent reads."""
        return format_graph_result(result)
