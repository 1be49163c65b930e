"""The graph engine: builds the index when it must, keeps it open, answers from it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from holodeck.errors import ConfigError, NotInitializedError, SearchError
from holodeck.lib.contracts import IndexStatus, ProgressListener, RetryFailed, SearchEngine
from holodeck.lib.graphrag import require_graphrag
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.indexer import GraphRAGIndexer
from holodeck.lib.graphrag.open_index import open_generation
from holodeck.lib.graphrag.search import SEARCH_MODES
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.thinkers import SEARCH
from holodeck.lib.indexes.generations import lease_current
from holodeck.lib.indexes.leases import Lease
from holodeck.lib.paths import resolve_source
from holodeck.lib.resources import Resources, resolve_tool
from holodeck.lib.results import SearchResult, format_graph_result
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

__all__ = ["GraphRAGEngine"]

logger = logging.getLogger(__name__)


class GraphRAGEngine(SearchEngine):
    """Knowledge-graph search over a folder of documents.

    Args:
        config: A tool with ``engine: graphrag``.
        base_dir: What relative paths resolve against; default: the working directory.
        execution_config: Time budgets, concurrency, retries and cache.
        agent_model: The model that the tool's models inherit from.
        environ: Where keys and servers are looked for; default: the process's variables.
        resources: Where models come from; default: the providers.
        in_process: Build in this process instead of a child; for tests whose models are objects.
        on_progress: Told how far a build is.
        wait_for_builder: Wait while another process builds the index instead of failing at once.

    Raises:
        ConfigError: Also a ``ValueError``: the tool has another engine.
        MissingExtraError: Also an ``ImportError``: the graphrag library is not installed.
    """

    modes: ClassVar[tuple[str, ...]] = tuple(SEARCH_MODES)
    mode_help: ClassVar[Mapping[str, str]] = {
        "local": "for questions about certain people, places, things or events",
        "global": "for questions about the whole of the documents: themes, trends, summaries",
    }

    def __init__(
        self,
        config: VectorstoreTool,
        base_dir: str | None = None,
        execution_config: ExecutionConfig | None = None,
        *,
        agent_model: LLMProvider | None = None,
        environ: Mapping[str, str] | None = None,
        resources: Resources | None = None,
        in_process: bool = False,
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
    ) -> None:
        if config.engine != "graphrag":
            raise ConfigError(
                f"GraphRAGEngine requires engine='graphrag', got {config.engine!r}: use "
                "VectorStoreTool for any engine"
            )
        require_graphrag()
        self.config = config
        self._execution = execution_config or ExecutionConfig()
        self._resolved = resolve_tool(config, agent_model)
        self._source = resolve_source(config, self._base(base_dir))
        self._storage = GraphRAGStorage(config, self._base(base_dir))
        self._resources = resources or Resources(
            self._execution, environ=environ, cache_dir=self._storage.cache_dir
        )
        self._indexer = GraphRAGIndexer(
            config,
            self._storage,
            resolved=self._resolved,
            execution=self._execution,
            resources=self._resources,
            in_process=in_process,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
        )
        self._metadata: IndexMetadata | None = None
        self._index: GraphIndex | None = None
        self._lease: Lease | None = None
        self._stamp: tuple[int, int] | None = None
        self._opening = threading.Lock()

    @staticmethod
    def _base(base_dir: str | None) -> Path:
        return Path(base_dir) if base_dir else Path.cwd()

    @property
    def is_initialized(self) -> bool:
        """Whether ``search`` may be called."""
        return self._index is not None

    @property
    def metadata(self) -> IndexMetadata | None:
        """What the opened index says of itself."""
        return self._metadata

    @property
    def storage(self) -> GraphRAGStorage:
        """Where the index lies."""
        return self._storage

    @property
    def indexer(self) -> GraphRAGIndexer:
        """Who builds the index."""
        return self._indexer

    @property
    def index_stats(self) -> dict[str, int]:
        """Counts of the index: entities, relationships, communities, files and more."""
        return {} if self._metadata is None else _counts(self._metadata)

    @property
    def was_built(self) -> bool:
        """Whether the last ``initialize`` built; ``False``: the index was up to date."""
        return self._indexer.built

    def status(self) -> IndexStatus:
        """Say what is indexed and how fresh it is; calls no model and opens no table."""
        metadata = self._storage.get_metadata()
        location = str(self._storage.storage_dir)
        if not self._source.exists():
            reason: str | None = f"the source {self._source} does not exist"
        else:
            reason = self._indexer.stale_reason(self._source)
        if metadata is None:
            return IndexStatus(location=location, stale_reason=reason)
        return IndexStatus(
            location=location,
            indexed_at=metadata.indexed_at,
            stale_reason=reason,
            counts=_counts(metadata),
            skipped=metadata.skipped,
            warnings=metadata.warnings,
            account=metadata.account,
        )

    async def initialize(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> None:
        """Build or update the index when needed, then open it.

        Args:
            force_reindex: Build even when nothing changed, also when already initialised.
            retry_failed: Which pieces that failed in the last build are asked for again, also
                when nothing changed: none, all, or those whose failure may pass by itself.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
            IndexingError: The index could not be built; the old one is untouched.
        """
        if self.is_initialized and not force_reindex and not retry_failed:
            return
        self._check_search_model()
        await self._indexer.build_index(
            self._source, force=force_reindex, retry_failed=retry_failed
        )
        self._open()

    async def open_existing(self) -> None:
        """Open the index that is there, stale or not; nothing is built.

        Raises:
            SearchError: There is no index.
        """
        self._check_search_model()
        if self._storage.get_metadata() is None:
            raise SearchError(
                f"tool {self.config.name!r} has no index yet in {self._storage.storage_dir}: "
                "build it with 'holodeck index'"
            )
        self._open()

    def _check_search_model(self) -> None:
        """Find a missing key or package of the search model before any work."""
        graphrag = self._resolved.tool.graphrag
        if graphrag is not None and graphrag.search_model is not None:
            self._resources.check(graphrag.search_model, SEARCH)

    async def _current(self) -> GraphIndex | None:
        """Return the open index; one that another process replaced meanwhile is opened first.

        A search that runs keeps the index that it began with.
        """
        if self._index is not None and self._read_stamp() not in (None, self._stamp):
            await asyncio.to_thread(self._reopen)
        return self._index

    def _reopen(self) -> None:
        with self._opening:
            stamp, metadata = self._read_stamp(), self._storage.get_metadata()
            if metadata is None or stamp == self._stamp:
                return
            if self._metadata is not None and metadata.generation == self._metadata.generation:
                self._metadata, self._stamp = metadata, stamp
                return
            logger.info("the index of tool %r was replaced: opening it", self.config.name)
            self._open()

    def _read_stamp(self) -> tuple[int, int] | None:
        """Return what changes whenever an index is committed; ``None`` without an index."""
        try:
            status = self._storage.metadata_path.stat()
        except OSError:
            return None
        return (status.st_ino, status.st_mtime_ns)

    def _open(self) -> None:
        stamp = self._read_stamp()
        metadata, lease = lease_current(
            self._indexer.published, lambda record: self._storage.lease(record.generation)
        )
        try:
            index = open_generation(*self._storage.generation_dirs(metadata.generation))
        except BaseException:
            lease.release()
            raise
        self._release()
        self._metadata, self._index, self._lease = metadata, index, lease
        self._stamp = stamp

    async def retrieve(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """Answer a question in ``local`` or ``global`` mode.

        Raises:
            NotInitializedError: Also a ``RuntimeError``.
            SearchError: The question could not be answered, or not within
                ``execution.search_timeout``.
        """
        index = await self._current()
        if index is None:
            raise NotInitializedError(
                f"GraphRAG engine {self.config.name!r} is not initialized: call initialize() first"
            )
        graphrag = self.config.graphrag or GraphRAGConfig()
        chosen = mode or graphrag.search_mode
        if chosen not in SEARCH_MODES:
            raise ConfigError(
                f"engine: graphrag has no search mode {chosen!r}: use one of "
                f"{', '.join(SEARCH_MODES)}"
            )
        searcher = SEARCH_MODES[chosen](
            self.config,
            self._storage,
            resolved=self._resolved,
            resources=self._resources,
            index=index,
        )
        budget = self._execution.search_timeout
        try:
            async with asyncio.timeout(budget) as limit:
                return await searcher.search(query, answer=answer)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise SearchError(
                f"the {chosen} search of tool {self.config.name!r} took longer than {budget:g} s: "
                "raise execution.search_timeout, or use a faster search_model"
            ) from error

    async def search(self, query: str, *, mode: str | None = None) -> str:
        """Return the answer and its sources as the text that an agent reads."""
        return format_graph_result(await self.retrieve(query, mode=mode))

    async def close(self) -> None:
        """Release the index and the models; a second call does nothing."""
        self._release()
        self._index = None
        await self._resources.close()

    def _release(self) -> None:
        if self._lease is not None:
            self._lease.release()
            self._lease = None


def _counts(metadata: IndexMetadata) -> dict[str, int]:
    return {
        "files": metadata.file_count,
        "documents": metadata.document_count,
        "text_units": metadata.text_unit_count,
        "entities": metadata.entity_count,
        "relationships": metadata.relationship_count,
        "communities": metadata.community_count,
        "reports": metadata.report_count,
    }
