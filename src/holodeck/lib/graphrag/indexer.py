"""Documents → a published generation of the index."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from holodeck.errors import IndexingError, SourceNotFoundError
from holodeck.lib.contracts import Failure, Progress, ProgressListener, RetryFailed
from holodeck.lib.graphrag.failures import failed_last_time, is_retried
from holodeck.lib.graphrag.fingerprint import changed_settings, config_hash, shaping_settings
from holodeck.lib.graphrag.graph_index import PROMPTS_FILE
from holodeck.lib.graphrag.library import library_version
from holodeck.lib.graphrag.open_index import derive_index
from holodeck.lib.graphrag.order import BuildOrder, run_order
from holodeck.lib.graphrag.prepare import Prepared, prepare, write_prepared
from holodeck.lib.graphrag.prompts import SEARCH_PROMPTS, read_prompts
from holodeck.lib.graphrag.settings_file import check_settings_file, write_settings_file
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.tables import ALWAYS, OURS, read_rows, write_rows
from holodeck.lib.graphrag.thinkers import INDEXING, open_claim_steps, open_index_steps
from holodeck.lib.graphrag.worker_process import BuildOutcome, build_in_child
from holodeck.lib.indexes.builder_lock import WAIT_SECONDS, builder_lock
from holodeck.lib.preflight import ask_models_once
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.source import SourceReading, read_source
from holodeck.lib.resources import ResolvedTool, Resources, resolve_tool
from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

if TYPE_CHECKING:
    from holodeck.models.llm import ModelSettings

__all__ = ["BuildOutcome", "GraphRAGIndexer", "IndexingCallbacks", "IndexingError"]

logger = logging.getLogger(__name__)


class IndexingCallbacks:
    """Logs how far a build is, and remembers it.

    Args:
        tool_name: The tool whose index is built.
        on_progress: Told as well.
    """

    def __init__(self, tool_name: str, on_progress: ProgressListener | None = None) -> None:
        self.tool_name = tool_name
        self.current_workflow: str | None = None
        self.workflows_completed: list[str] = []
        self._on_progress = on_progress

    def __call__(self, progress: Progress) -> None:
        """Take note of a step that begins or goes on."""
        if progress.step != self.current_workflow:
            if self.current_workflow is not None:
                self.workflows_completed.append(self.current_workflow)
            self.current_workflow = progress.step
            logger.debug("[%s] %s", self.tool_name, progress.step)
        if self._on_progress is not None:
            self._on_progress(progress)


class GraphRAGIndexer:
    """Builds the index of one tool, aside, and publishes it in one step.

    Args:
        tool_config: The tool.
        storage: Where its index lies.
        resolved: The tool with its models filled in; default: filled in without an agent.
        execution: Time budgets and concurrency.
        resources: Where models come from.
        in_process: Build in this process instead of a child.
        on_progress: Told how far the build is.
        wait_for_builder: Wait while another process builds this index, at most as long as a build
            may take, instead of failing at once.
    """

    def __init__(
        self,
        tool_config: VectorstoreTool,
        storage: GraphRAGStorage,
        *,
        resolved: ResolvedTool | None = None,
        execution: ExecutionConfig | None = None,
        resources: Resources | None = None,
        in_process: bool = False,
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
    ) -> None:
        self.tool_config = tool_config
        self.storage = storage
        self._resolved = resolved or resolve_tool(tool_config)
        self._execution = execution or ExecutionConfig()
        self._resources = resources or Resources(self._execution, cache_dir=storage.cache_dir)
        self._in_process = in_process
        self._wait_seconds = (
            (self._execution.index_timeout or WAIT_SECONDS) if wait_for_builder else 0.0
        )
        self._callbacks = IndexingCallbacks(tool_config.name, on_progress)
        self.built = False
        """Whether the last ``build_index`` built; ``False``: the index was up to date."""

    async def build_index(
        self, source_path: Path, force: bool = False, *, retry_failed: RetryFailed = False
    ) -> IndexMetadata:
        """Build or update the index, unless it is up to date.

        Args:
            source_path: File or folder of documents.
            force: Build even when nothing changed.
            retry_failed: Which pieces that failed in the last build are asked for again, also when
                nothing changed.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
            MissingKeyError: Found before anything is read.
            IndexBusyError: Another process builds this index, and did not end in time.
            IndexingError: A step failed; nothing was published.
        """
        source = Path(source_path)
        if not await asyncio.to_thread(source.exists):
            raise SourceNotFoundError(
                f"Source path not found: {source}. Create it, or set 'source' of tool "
                f"{self.tool_config.name!r}"
            )
        self.built = False
        check_settings_file(self._resolved)
        metadata = await self._current_or_new(source, force, retry_failed)
        graphrag = self._resolved.tool.graphrag
        if graphrag is not None and graphrag.settings_file:
            write_settings_file(self._resolved, self.storage, metadata)
        return metadata

    async def _current_or_new(
        self, source: Path, force: bool, retry_failed: RetryFailed
    ) -> IndexMetadata:
        settings = shaping_settings(self._resolved, self._resources)
        if self.stale_reason(source, force, settings, retry_failed) is None:
            return self.published()
        self._check_models()
        self.storage.ensure_directories()
        async with builder_lock(
            self.storage.lock_path, self.tool_config.name, wait_seconds=self._wait_seconds
        ):
            reason = self.stale_reason(source, force, settings, retry_failed)
            if reason is None:  # the other builder was faster
                return self.published()
            logger.info("building the index of tool %r: %s", self.tool_config.name, reason)
            width = await ask_models_once(
                self._resolved, self._resources, indexed_width=self._indexed_width(settings)
            )
            known = self._known_failures(settings, retry_failed)
            return await self._build(source, settings, known, width)

    def stale_reason(
        self,
        source: Path,
        force: bool = False,
        settings: Mapping[str, str] | None = None,
        retry_failed: RetryFailed = False,
    ) -> str | None:
        """Return why the index must be built, or ``None`` when it is up to date."""
        if force:
            return "a rebuild was asked for"
        metadata = self.storage.get_metadata()
        wanted = (
            settings if settings is not None else shaping_settings(self._resolved, self._resources)
        )
        if metadata is not None and metadata.config_hash != config_hash(wanted):
            changes = changed_settings(metadata.settings, wanted)
            return f"settings changed ({'; '.join(changes)})"
        reason = self.storage.stale_reason(source)
        if reason is None and metadata is not None:
            return failed_last_time(metadata.account.failures, retry_failed)
        return reason

    def _indexed_width(self, settings: Mapping[str, str]) -> int:
        """Return the width of the vectors that the same embedding model made for the index."""
        metadata = self.storage.get_metadata()
        name = "graphrag.embedding_model"
        if metadata is None or metadata.settings.get(name) != settings[name]:
            return 0
        return metadata.vector_size

    def _known_failures(
        self, settings: Mapping[str, str], retry_failed: RetryFailed
    ) -> tuple[Failure, ...]:
        """Return what failed in the last build and is not to be asked for again.

        Other settings, or no cache, ask for everything.
        """
        metadata = self.storage.get_metadata()
        if metadata is None or self._execution.cache is not True:
            return ()
        if metadata.config_hash != config_hash(settings):
            return ()
        return tuple(
            failure
            for failure in metadata.account.failures
            if not is_retried(failure, retry_failed)
        )

    def published(self) -> IndexMetadata:
        """Return the commit record of the index.

        Raises:
            IndexingError: There is no index.
        """
        metadata = self.storage.get_metadata()
        if metadata is None:
            raise IndexingError(
                f"the index of tool {self.tool_config.name!r} vanished while it was opened: run "
                "'holodeck index' again"
            )
        return metadata

    def _check_models(self) -> None:
        """Find a missing key or package before a document is read."""
        graphrag = self._resolved.tool.graphrag or GraphRAGConfig()
        models: list[tuple[ModelSettings | None, str]] = [
            (graphrag.indexing_model, INDEXING),
            (self._resolved.embedding, self._resolved.embedding_where),
        ]
        for settings, where in models:
            if settings is not None:
                self._resources.check(settings, where)
        open_claim_steps(self._resolved, open_index_steps(self._resolved, self._resources))

    async def _build(
        self,
        source: Path,
        settings: Mapping[str, str],
        known: Sequence[Failure],
        width: int | None,
    ) -> IndexMetadata:
        reading = await asyncio.to_thread(
            read_source, source, read_options(self.tool_config, self._execution)
        )
        graphrag = self._resolved.tool.graphrag or GraphRAGConfig()
        prepared = await asyncio.to_thread(
            prepare, reading.documents, graphrag.chunk_size, graphrag.chunk_overlap
        )
        generation = self.storage.new_generation()
        tables, vectors = self.storage.generation_dirs(generation)
        tables.mkdir(parents=True)
        vectors.mkdir(parents=True)
        try:
            outcome = await self._fill(source, prepared, tables, vectors, generation, known, width)
            metadata = self._metadata(source, settings, reading, generation, outcome)
            self._callbacks(Progress(step="publish", done=0, total=1))
            self.storage.save_metadata(metadata)
            self._callbacks(Progress(step="publish", done=1, total=1))
        except BaseException:
            self._discard(generation)
            raise
        self.built = True
        self.storage.sweep()
        return metadata

    def _discard(self, generation: str) -> None:
        """Delete half a generation; what was published meanwhile stays.

        Replies that were paid for are kept elsewhere.
        """
        published = self.storage.get_metadata()
        if published is None or published.generation != generation:
            for folder in self.storage.generation_dirs(generation):
                shutil.rmtree(folder, ignore_errors=True)

    async def _fill(
        self,
        source: Path,
        prepared: Prepared,
        tables: Path,
        vectors: Path,
        generation: str,
        known: Sequence[Failure],
        width: int | None,
    ) -> BuildOutcome:
        """Write every table and vector of the generation."""
        write_prepared(prepared, tables)
        prompts = json.dumps(read_prompts(SEARCH_PROMPTS), ensure_ascii=False)
        (tables / PROMPTS_FILE).write_text(prompts, encoding="utf-8")
        if not prepared.text_units:
            for table in ALWAYS:
                if not (tables / f"{table}.parquet").exists():
                    write_rows(tables, table, [])
            derive_index(tables, vectors)
            return BuildOutcome()
        order = BuildOrder(
            resolved=self._resolved,
            execution=self._execution,
            environ=self._resources.environ,
            storage_dir=self.storage.storage_dir,
            source=source,
            output=tables,
            vectors=vectors,
            cache_dir=self.storage.cache_dir,
            log_file=self.storage.logs_dir / f"build-{generation}.log",
            vector_width=width,
            known_failures=known,
        )
        budget = self._execution.index_timeout
        try:
            async with asyncio.timeout(budget) as limit:
                if self._in_process:
                    build = await run_order(order, self._resources, self._callbacks)
                    return BuildOutcome(
                        counts=build.counts,
                        warnings=tuple(build.warnings),
                        account=build.account,
                    )
                return await build_in_child(order, self._callbacks)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise IndexingError(
                f"building the index of tool {self.tool_config.name!r} took longer than "
                f"{budget:g} s. What was paid for is kept: raise execution.index_timeout and run "
                "'holodeck index' again to go on"
            ) from error

    def _metadata(
        self,
        source: Path,
        settings: Mapping[str, str],
        reading: SourceReading,
        generation: str,
        outcome: BuildOutcome,
    ) -> IndexMetadata:
        tables, _ = self.storage.generation_dirs(generation)
        counts = {name: len(read_rows(tables, name, ["id"])) for name in ALWAYS if name not in OURS}
        warnings = [*reading.notes, *outcome.warnings]
        if not reading.documents:
            warnings.append("no file of the source gave any text: the index is empty")
        elif not counts["entities"]:
            warnings.append("no entities were found in the documents: the graph is empty")
        return IndexMetadata(
            tool_name=self.tool_config.name,
            source_path=str(source),
            source_hash=reading.source_hash,
            indexed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            file_count=len(reading.files),
            entity_count=counts["entities"],
            relationship_count=counts["relationships"],
            community_count=counts["communities"],
            report_count=counts["community_reports"],
            document_count=counts["documents"],
            text_unit_count=counts["text_units"],
            merged_entity_count=outcome.counts.get("merged_entities", 0),
            vector_size=outcome.counts.get("vector_size", 0),
            graphrag_version=library_version(),
            config_hash=config_hash(settings),
            settings=dict(settings),
            generation=generation,
            calls=outcome.calls,
            skipped={item.path: item.reason for item in reading.skipped},
            warnings=tuple(warnings),
            account=outcome.account,
        )
