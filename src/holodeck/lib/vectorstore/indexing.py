"""Documents → a published generation of the index."""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from holodeck.errors import (
    HolodeckError,
    IndexingError,
    SourceNotFoundError,
    TableNotFoundError,
)
from holodeck.lib.contracts import Progress, ProgressListener
from holodeck.lib.indexes.builder_lock import WAIT_SECONDS, builder_lock
from holodeck.lib.indexes.settings import changed_settings, config_hash
from holodeck.lib.indexes.text_units import Prepared, prepare
from holodeck.lib.preflight import ask_models_once
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.source import SourceReading, read_source, source_hash
from holodeck.lib.resources import ResolvedTool, Resources
from holodeck.lib.vectorstore.embed import embed_chunks
from holodeck.lib.vectorstore.settings import embedding_key, shaping_settings
from holodeck.lib.vectorstore.storage import IndexFolder, IndexRecord
from holodeck.lib.vectorstore.store import open_store, write_store
from holodeck.models.config import ExecutionConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EMBEDDING", "VectorIndexer"]

logger = logging.getLogger(__name__)

EMBEDDING = "embedding_model"
"""The setting that messages name when the embedding model cannot be used."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class VectorIndexer:
    """Builds the index of one tool, aside, and publishes it in one step.

    Args:
        resolved: The tool, its models filled in.
        source: File or folder of its documents.
        folder: Where its index lies.
        execution: Time budgets.
        resources: Where the embedding model comes from.
        on_progress: Told how far the build is.
        wait_for_builder: Wait while another process builds this index, at most as long as a build
            may take, instead of failing at once.
    """

    def __init__(
        self,
        resolved: ResolvedTool,
        source: Path,
        folder: IndexFolder,
        *,
        execution: ExecutionConfig,
        resources: Resources,
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
    ) -> None:
        self._resolved = resolved
        self._tool = resolved.tool
        self._source = source
        self._folder = folder
        self._execution = execution
        self._resources = resources
        self._on_progress = on_progress or (lambda progress: None)
        budget = execution.index_timeout or WAIT_SECONDS
        self._wait_seconds = budget if wait_for_builder else 0.0
        self._settings = shaping_settings(resolved)
        self.built = False
        """Whether the last ``build`` built; ``False``: the index was up to date."""

    def stale_reason(self, force: bool = False) -> str | None:
        """Return why the index must be built, or ``None`` when it is up to date."""
        if force:
            return "a rebuild was asked for"
        record = self._folder.record()
        if record is None:
            return "there is no index yet"
        if record.config_hash != config_hash(self._settings):
            changes = changed_settings(record.settings, self._settings)
            return f"settings changed ({'; '.join(changes)})"
        if not self._folder.store_folder(record.generation).is_dir():
            return "the store of the index is missing"
        options = read_options(self._tool, self._execution)
        if source_hash(self._source, options) != record.source_hash:
            return "the documents changed"
        return None

    def published(self) -> IndexRecord:
        """Return the commit record of the index.

        Raises:
            IndexingError: There is no index.
        """
        record = self._folder.record()
        if record is None:
            raise IndexingError(
                f"the index of tool {self._tool.name!r} vanished while it was opened: run "
                "'holodeck index' again"
            )
        return record

    async def build(self, force: bool = False) -> IndexRecord:
        """Build or update the index, unless it is up to date.

        Args:
            force: Build, and embed everything anew, even when nothing changed.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
            MissingKeyError: Found before anything is read.
            IndexBusyError: Another process builds this index, and did not end in time.
            IndexingError: The build failed; nothing was published.
        """
        if not await asyncio.to_thread(self._source.exists):
            raise SourceNotFoundError(
                f"Source path not found: {self._source}. Create it, or set 'source' of tool "
                f"{self._tool.name!r}"
            )
        self.built = False
        if await asyncio.to_thread(self.stale_reason, force) is None:
            return self.published()
        self._resources.check(self._resolved.embedding, self._resolved.embedding_where)
        self._folder.create()
        async with builder_lock(
            self._folder.lock_path, self._tool.name, wait_seconds=self._wait_seconds
        ):
            reason = await asyncio.to_thread(self.stale_reason, force)
            if reason is None:  # the other builder was faster
                return self.published()
            logger.info("building the index of tool %r: %s", self._tool.name, reason)
            width = await ask_models_once(
                self._resolved, self._resources, indexed_width=self._indexed_width()
            )
            return await self._build_in_time(force, width)

    async def _build_in_time(self, force: bool, width: int | None) -> IndexRecord:
        budget = self._execution.index_timeout
        try:
            async with asyncio.timeout(budget) as limit:
                return await self._build(force, width)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise IndexingError(
                f"building the index of tool {self._tool.name!r} took longer than {budget:g} s. "
                "What was embedded is kept: raise execution.index_timeout and build again to go on"
            ) from error
        except OSError as error:
            if isinstance(error, HolodeckError):
                raise
            raise IndexingError(
                f"the index of tool {self._tool.name!r} could not be written to "
                f"{self._folder.root}: {error}. The old index is untouched: make room or mend the "
                "folder, and build again"
            ) from error

    async def _build(self, force: bool, width: int | None) -> IndexRecord:
        started = time.monotonic()
        self._on_progress(Progress(step="read"))
        options = read_options(self._tool, self._execution)
        reading = await asyncio.to_thread(read_source, self._source, options)
        prepared = await asyncio.to_thread(
            prepare, reading.documents, self._tool.chunk_size, self._tool.chunk_overlap
        )
        vectors = await self._embed(prepared, force, width)
        self._on_progress(Progress(step="store"))
        stopped = threading.Event()
        record = await _to_its_end(stopped, self._publish, reading, prepared, vectors, stopped)
        self.built = True
        logger.info(
            "indexed %d chunks of %d files in %.1fs",
            record.chunk_count,
            record.file_count,
            time.monotonic() - started,
        )
        return record

    async def _embed(
        self, prepared: Prepared, force: bool, width: int | None
    ) -> NDArray[np.float32]:
        import numpy as np

        if not prepared.text_units:
            return np.zeros((0, 0), dtype=np.float32)
        unfinished = self._folder.unfinished(*embedding_key(self._settings))
        known: dict[str, NDArray[np.float32]] = {}
        if self._execution.cache == "renew":
            unfinished.clear()
        else:
            known = {} if force else await asyncio.to_thread(self._stored_vectors)
            ids, rows = await asyncio.to_thread(unfinished.read)
            known |= dict(zip(ids, rows, strict=True))
        if width is not None:
            known = {key: row for key, row in known.items() if len(row) == width}
        return await embed_chunks(
            prepared.text_units,
            self._resources.embedder(
                self._resolved.embedding,
                EMBEDDING,
                self._tool.embedding_dimensions,
                width=width,
            ),
            known=known,
            unfinished=unfinished,
            on_progress=self._on_progress,
        )

    def _indexed_width(self) -> int:
        """Return the width of the vectors that the same embedding model made for the index."""
        record = self._folder.record()
        if record is None or embedding_key(record.settings) != embedding_key(self._settings):
            return 0
        return record.vector_size

    def _stored_vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the published index that the same model made, by chunk."""
        record = self._folder.record()
        if record is None or embedding_key(record.settings) != embedding_key(self._settings):
            return {}
        folder = self._folder.store_folder(record.generation)
        if not folder.is_dir():
            return {}
        try:
            store = open_store(folder)
        except TableNotFoundError as error:
            raise IndexingError(
                f"the vectors of tool {self._tool.name!r} cannot be read, and without them every "
                f"text is embedded, and paid for, again: {error}"
            ) from error
        return dict(zip(store.ids, store.vectors, strict=True))

    def _publish(
        self,
        reading: SourceReading,
        prepared: Prepared,
        vectors: NDArray[np.float32],
        stopped: threading.Event,
    ) -> IndexRecord:
        """Write the generation aside, then replace the record, unless it was stopped by then."""
        generation = self._folder.new_generation()
        store = self._folder.store_folder(generation)
        try:
            write_store(store, prepared.text_units, vectors)
            record = self._record(reading, prepared, vectors.shape[1], generation)
            self._go_on_unless(stopped)
            self._folder.commit(record)
        except BaseException:
            shutil.rmtree(store, ignore_errors=True)  # half a generation serves nobody
            raise
        self._folder.tidy(record)
        return record

    def _go_on_unless(self, stopped: threading.Event) -> None:
        """Raise when the build was cancelled: who cancels is told that the index is as it was."""
        if stopped.is_set():
            raise IndexingError(f"the index of tool {self._tool.name!r} was not published")

    def _record(
        self, reading: SourceReading, prepared: Prepared, width: int, generation: str
    ) -> IndexRecord:
        warnings = list(reading.notes)
        if not prepared.text_units:
            warnings.append("no file of the source gave any text: the index is empty")
        return IndexRecord(
            tool_name=self._tool.name,
            source_path=str(self._source),
            source_hash=reading.source_hash,
            indexed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            config_hash=config_hash(self._settings),
            generation=generation,
            settings=dict(self._settings),
            file_count=len(reading.files),
            document_count=len(prepared.documents),
            chunk_count=len(prepared.text_units),
            vector_size=width,
            skipped={item.path: item.reason for item in reading.skipped},
            warnings=tuple(warnings),
        )


async def _to_its_end(
    stopped: threading.Event,
    function: Callable[Parameters, Result],
    *args: Parameters.args,
    **kwargs: Parameters.kwargs,
) -> Result:
    """Run ``function`` in a thread and wait for it also when cancelled: a thread cannot be stopped.

    What it does is then done as a whole before the lock is given back; ``stopped`` tells it to
    leave out what has not begun.
    """
    running = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([running])
        running.exception()  # the cancellation is what the caller hears of
        raise
