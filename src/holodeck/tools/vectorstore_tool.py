"""The vectorstore tool at run time: one engine behind initialize, search and close."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from holodeck.errors import ConfigError, NotInitializedError
from holodeck.lib.engines import engine_class
from holodeck.lib.resources import resolve_tool

if TYPE_CHECKING:
    from holodeck.lib.contracts import (
        Estimate,
        IndexStatus,
        ProgressListener,
        RetryFailed,
        SearchEngine,
    )
    from holodeck.lib.resources import Resources
    from holodeck.lib.results import SearchResult
    from holodeck.models.config import ExecutionConfig
    from holodeck.models.llm import LLMProvider
    from holodeck.models.tool import VectorstoreTool

__all__ = ["VectorStoreTool"]

Result = TypeVar("Result")


class VectorStoreTool:
    """A ``VectorstoreTool`` of YAML, alive.

    Args:
        config: What YAML says.
        base_dir: What relative paths resolve against; default: the working directory.
        execution_config: Time budgets, concurrency, retries and cache.
        agent_model: The model that the tool's models inherit from.
        environ: Where keys and servers are looked for; default: the process's variables.
        resources: Where models come from; default: the providers.
        in_process: Build in this process instead of a child; for tests whose models are objects.
        on_progress: Told how far a build is.
        wait_for_builder: Wait while another process builds the index instead of failing at once.
        placed: Says where in its file a setting stands that an error blames.

    Example:
        >>> tool = VectorStoreTool(config)              # doctest: +SKIP
        >>> await tool.initialize()                     # doctest: +SKIP
        >>> print(await tool.search("Who is the CEO?")) # doctest: +SKIP
    """

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
        placed: Callable[[ConfigError], ConfigError] | None = None,
    ) -> None:
        self.config = config
        self._placed = placed
        self._agent_model = agent_model
        self._engine: SearchEngine = engine_class(config.engine)(  # type: ignore[call-arg]  # every engine takes these; the contract test proves it
            config,
            base_dir,
            execution_config,
            agent_model=agent_model,
            environ=environ,
            resources=resources,
            in_process=in_process,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
        )

    @property
    def engine(self) -> SearchEngine:
        """The engine behind the tool."""
        return self._engine

    @property
    def is_initialized(self) -> bool:
        """Whether ``search`` may be called."""
        return self._engine.is_initialized

    @property
    def index_stats(self) -> dict[str, int]:
        """Counts of what the index holds."""
        return self._engine.index_stats

    def status(self) -> IndexStatus:
        """Say what is indexed and how fresh it is; calls no model."""
        return self._engine.status()

    async def initialize(
        self,
        force_ingest: bool = False,
        provider_type: str | None = None,
        *,
        retry_failed: RetryFailed = False,
    ) -> None:
        """Build or update the index when needed, then open it.

        Args:
            force_ingest: Build even when nothing changed.
            provider_type: Accepted for callers that know the provider; must agree with the
                configuration.
            retry_failed: Which pieces that failed in the last build are asked for again, also
                when nothing changed: none, all (``True``), or those whose failure may pass by
                itself (``"passing"``, what ``holodeck index`` does).

        Raises:
            ConfigError: ``provider_type`` disagrees with the configuration.
            SourceNotFoundError: Also a ``FileNotFoundError``.
            IndexingError: The index could not be built; the old one is untouched.
        """
        if provider_type is not None:
            configured = resolve_tool(self.config, self._agent_model).embedding.provider
            if provider_type != configured:
                raise ConfigError(
                    f"tool {self.config.name!r} was asked to use provider {provider_type!r}, and "
                    f"its configuration says {configured!r}: leave provider_type out, or change "
                    "the configuration"
                )
        with self._placing():
            await self._engine.initialize(force_reindex=force_ingest, retry_failed=retry_failed)

    @contextmanager
    def _placing(self) -> Iterator[None]:
        """Say where in the file a setting stands that turns out to be wrong."""
        try:
            yield
        except ConfigError as error:
            if self._placed is None or error.file is not None or error.field is None:
                raise
            raise self._placed(error) from error

    async def estimate(
        self, force_ingest: bool = False, *, retry_failed: RetryFailed = False
    ) -> Estimate:
        """Say what ``initialize`` would ask of models, and what that costs; asks none.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
        """
        with self._placing():
            return await self._engine.estimate(
                force_reindex=force_ingest, retry_failed=retry_failed
            )

    async def open_existing(self) -> None:
        """Open the index that is there, stale or not; nothing is built.

        Raises:
            SearchError: There is no index.
        """
        await self._engine.open_existing()

    async def retrieve(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """Answer a question and return everything that the answer was made from.

        Raises:
            NotInitializedError: Also a ``RuntimeError``: ``initialize`` was not called.
            SearchError: The question could not be answered.
        """
        if not self.is_initialized:
            raise NotInitializedError(
                f"tool {self.config.name!r} is not initialized: call initialize() first"
            )
        return await self._engine.retrieve(query, mode=mode, answer=answer)

    async def search(self, query: str, *, mode: str | None = None) -> str:
        """Return the answer and its sources as the text that an agent reads."""
        if not self.is_initialized:
            raise NotInitializedError(
                f"tool {self.config.name!r} is not initialized: call initialize() first"
            )
        return await self._engine.search(query, mode=mode)

    async def close(self) -> None:
        """Release what was opened; a second call does nothing."""
        await self._engine.close()

    def initialize_sync(self, force_ingest: bool = False) -> None:
        """``initialize`` for scripts and notebooks."""
        _run(self.initialize(force_ingest))

    def estimate_sync(self, force_ingest: bool = False) -> Estimate:
        """``estimate`` for scripts and notebooks."""
        return _run(self.estimate(force_ingest))

    def search_sync(self, query: str, *, mode: str | None = None) -> str:
        """``search`` for scripts and notebooks."""
        return _run(self.search(query, mode=mode))

    def retrieve_sync(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """``retrieve`` for scripts and notebooks."""
        return _run(self.retrieve(query, mode=mode, answer=answer))

    def close_sync(self) -> None:
        """``close`` for scripts and notebooks."""
        _run(self.close())


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run ``work`` to its end, also where a loop is running in this thread."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()
