"""The frame of every engine with an index: build when needed, open, follow, answer in time."""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from holodeck.errors import ConfigError, NotInitializedError, SearchError, TableNotFoundError
from holodeck.lib.contracts import (
    Estimate,
    IndexPlaces,
    IndexStatus,
    ProgressListener,
    RetryFailed,
    SearchEngine,
    Spending,
)
from holodeck.lib.indexes.folder import IndexFolder
from holodeck.lib.indexes.generations import lease_current
from holodeck.lib.indexes.indexer import Indexer
from holodeck.lib.indexes.opened import OpenGeneration
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.paths import resolve_source
from holodeck.lib.resources import Resources, resolve_tool
from holodeck.lib.results import SearchResult
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool

__all__ = ["IndexEngine"]

logger = logging.getLogger(__name__)

Record = TypeVar("Record", bound=IndexRecord)
Content = TypeVar("Content")


class IndexEngine(SearchEngine, Generic[Record, Content]):
    """An engine over one index; ``Content`` is what it opens of a generation.

    Args:
        config: A tool with this engine.
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
        MissingExtraError: Also an ``ImportError``: the engine's packages are not installed.
    """

    name: ClassVar[str]
    """What YAML calls the engine."""

    faster: ClassVar[str]
    """What makes a search faster, for the message of one that took too long."""

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
        if config.engine != self.name:
            raise ConfigError(
                f"{type(self).__name__} requires engine={self.name!r}, got {config.engine!r}: use "
                "VectorStoreTool for any engine"
            )
        self.check_packages()
        base = Path(base_dir) if base_dir else Path.cwd()
        self.config = config
        self._execution = execution_config or ExecutionConfig()
        self._resolved = resolve_tool(config, agent_model)
        self._source = resolve_source(config, base)
        self._folder = self.make_folder(base)
        self._resources = resources or Resources(
            self._execution,
            environ=environ,
            cache_dir=self._folder.cache_dir_for(self._execution),
        )
        self._indexer = self.make_indexer(
            in_process=in_process, on_progress=on_progress, wait_for_builder=wait_for_builder
        )
        self._opened: OpenGeneration[Record, Content] | None = None
        self._opening = threading.Lock()

    # --- what an engine says ------------------------------------------------------------------

    @classmethod
    def check_packages(cls) -> None:
        """Find a missing package.

        Raises:
            MissingExtraError: Also an ``ImportError``.
        """

    @abstractmethod
    def make_folder(self, base_dir: Path) -> IndexFolder[Record]:
        """Return the folder of the index."""

    @abstractmethod
    def make_indexer(
        self, *, in_process: bool, on_progress: ProgressListener | None, wait_for_builder: bool
    ) -> Indexer[Record]:
        """Return who builds the index."""

    @property
    @abstractmethod
    def default_mode(self) -> str:
        """The search mode that the tool is configured with."""

    def check_search(self) -> None:
        """Find a missing key or package of what answers, before any work.

        Raises:
            ConfigError: Something is missing.
        """

    @abstractmethod
    def open_generation(self, record: Record) -> Content:
        """Open the generation that a record names.

        Raises:
            TableNotFoundError: A file of it is missing or damaged.
        """

    @abstractmethod
    async def answer(
        self, content: Content, query: str, *, mode: str, answer: bool
    ) -> SearchResult:
        """Answer a question from what is open; see ``retrieve``."""

    # --- the contract -------------------------------------------------------------------------

    @property
    def is_initialized(self) -> bool:
        """Whether ``search`` may be called."""
        return self._opened is not None

    @property
    def index_stats(self) -> dict[str, int]:
        """Counts of the opened index, ``files`` among them."""
        return {} if self._opened is None else self._opened.record.counts

    @property
    def was_built(self) -> bool:
        """Whether the last ``initialize`` built; ``False``: the index was up to date."""
        return self._indexer.built

    @property
    def places(self) -> IndexPlaces:
        """Where the index lies, or will."""
        return IndexPlaces(
            index=self._folder.root, replies=self._folder.cache_dir_for(self._execution)
        )

    def status(self) -> IndexStatus:
        """Say what is indexed and how fresh it is; calls no model and opens no table."""
        location = str(self._folder.root)
        if self._indexer.is_given() or self._source.exists():
            reason = self._indexer.stale_reason(self._source)
        else:
            reason = f"the source {self._source} does not exist"
        record = self._folder.record()
        spent = self._folder.ledger.rows()
        if record is None:
            spending = Spending(total=spent) if spent else None
            return IndexStatus(location=location, stale_reason=reason, spending=spending)
        return IndexStatus(
            location=location,
            indexed_at=record.indexed_at,
            stale_reason=reason,
            counts=record.counts,
            skipped=record.skipped,
            warnings=record.warnings,
            account=record.account,
            spending=replace(record.spending, total=spent),
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
        await self._indexer.find_source(self._source)
        self.check_search()
        await self._indexer.build_index(
            self._source, force=force_reindex, retry_failed=retry_failed
        )
        try:
            await asyncio.to_thread(self._open)
        except TableNotFoundError as error:
            if self._indexer.built:
                raise
            self._indexer.note_damage(error)
            await self._indexer.build_index(self._source)
            await asyncio.to_thread(self._open)

    async def estimate(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> Estimate:
        """Say what ``initialize`` would ask of models, and what that costs; asks none.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
        """
        return await self._indexer.estimate(
            self._source, force=force_reindex, retry_failed=retry_failed
        )

    async def open_existing(self) -> None:
        """Open the index that is there, stale or not; nothing is built.

        Raises:
            SearchError: There is no index.
            TableNotFoundError: A file of it is missing or damaged.
        """
        self.check_search()
        if self._folder.record() is None:
            raise SearchError(
                f"tool {self.config.name!r} has no index in {self._folder.root} "
                f"({self._folder.no_record_reason()}): build it with 'holodeck index'"
            )
        await asyncio.to_thread(self._open)

    async def retrieve(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """Answer a question in one of the engine's modes.

        Raises:
            NotInitializedError: Also a ``RuntimeError``.
            ConfigError: There is no such mode.
            EmptyQueryError: There is no question.
            SearchError: The question could not be answered, or not within
                ``execution.search_timeout``.
        """
        opened = await self._current()
        chosen = self.default_mode if mode is None else mode
        if chosen not in self.modes:
            raise ConfigError(
                f"engine: {self.name} has no search mode {chosen!r}: use one of "
                f"{', '.join(self.modes)}"
            )
        budget = self._execution.search_timeout
        try:
            async with asyncio.timeout(budget) as limit:
                with opened.read() as content:
                    return await self.answer(content, query, mode=chosen, answer=answer)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise SearchError(
                f"the {chosen} search of tool {self.config.name!r} took longer than {budget:g} s: "
                f"raise execution.search_timeout, or use {self.faster}"
            ) from error

    async def close(self) -> None:
        """Release the index and the models; a second call does nothing."""
        self._replace(None)
        await self._resources.close()

    # --- what is open -------------------------------------------------------------------------

    async def _current(self) -> OpenGeneration[Record, Content]:
        """Return what is open; an index that replaced it meanwhile is opened first.

        A search that runs keeps the index that it began with.
        """
        opened = self._opened
        if opened is None:
            raise NotInitializedError(
                f"engine of tool {self.config.name!r} is not initialized: call initialize() first"
            )
        if self._folder.stamp() not in (None, opened.stamp):
            await asyncio.to_thread(self._follow)
        return self._opened or opened

    def _follow(self) -> None:
        with self._opening:
            opened, stamp, record = self._opened, self._folder.stamp(), self._folder.record()
            if opened is None or record is None or stamp == opened.stamp:
                return
            if record.generation == opened.record.generation:
                opened.record, opened.stamp = record, stamp
                return
            logger.info("the index of tool %r was replaced: opening it", self.config.name)
            self._open()

    def _open(self) -> None:
        stamp = self._folder.stamp()
        try:
            record, lease = lease_current(
                self._folder.published, lambda current: self._folder.lease(current.generation)
            )
        except FileNotFoundError as error:
            raise TableNotFoundError.of(f"{error.filename or error} cannot be found") from error
        except OSError as error:
            raise TableNotFoundError.of(
                f"{error.filename} cannot be opened ({error.strerror})"
            ) from error
        try:
            self._folder.check(record)
            content = self.open_generation(record)
        except BaseException:
            lease.release()
            raise
        self._replace(OpenGeneration(record, content, lease, stamp))

    def _replace(self, opened: OpenGeneration[Record, Content] | None) -> None:
        before, self._opened = self._opened, opened
        if before is not None:
            before.retire()
