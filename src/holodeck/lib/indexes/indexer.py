"""The frame of every build: check, lock, look again, build aside, publish, sweep."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from holodeck.errors import ConfigError, IndexBusyError
from holodeck.lib.chunking import CHUNKING_VERSION, ChunkEnds
from holodeck.lib.contracts import (
    Estimate,
    EstimateRow,
    Progress,
    ProgressListener,
    RetryFailed,
)
from holodeck.lib.indexes.build_log import keep_log
from holodeck.lib.indexes.build_watch import BuildWatch
from holodeck.lib.indexes.builder_lock import WAIT_SECONDS, builder_lock
from holodeck.lib.indexes.corpus import Corpus
from holodeck.lib.indexes.estimating import PaidModel, priced, probe_rows
from holodeck.lib.indexes.folder import DAMAGED, IndexFolder
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.indexes.settings import differ_in_texts_alone
from holodeck.lib.indexes.space import check_space, free_bytes
from holodeck.lib.indexes.state import SKIPPED_CHANGED, IndexState
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.indexes.text_units import prepare
from holodeck.lib.indexes.threads import to_its_end
from holodeck.lib.indexes.time_budget import in_time
from holodeck.lib.preflight import ask_models_once
from holodeck.lib.quantities import counts_in_words
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.source import read_source
from holodeck.lib.resources import ResolvedTool, Resources
from holodeck.lib.tokens import ENCODING_NAME
from holodeck.models.config import ExecutionConfig

__all__ = ["Indexer", "PaidModel"]

logger = logging.getLogger(__name__)

CUTS_FILE = "cuts.memo"
"""Where the documents were cut, so that an update cuts only what changed."""
_USUAL_WIDTH = 1536
"""Numbers in a vector, where no vector of the model was seen yet."""

Record = TypeVar("Record", bound=IndexRecord)


class Indexer(IndexState[Record]):
    """Builds the index of one tool, aside, and publishes it in one step.

    An engine says how its texts are cut, what shapes its index, and fills a generation.

    Args:
        resolved: The tool, its models filled in.
        folder: Where its index lies.
        execution: Time budgets.
        resources: Where models come from.
        on_progress: Told how far the build is.
        wait_for_builder: Wait while another process builds this index, at most as long as a build
            may take, instead of failing at once.
        free_bytes: Says how much room there is in a folder.
    """

    def __init__(
        self,
        resolved: ResolvedTool,
        folder: IndexFolder[Record],
        *,
        execution: ExecutionConfig,
        resources: Resources,
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
        free_bytes: Callable[[Path], int] = free_bytes,
    ) -> None:
        super().__init__(resolved, folder, execution)
        self._resources = resources
        self._watch = BuildWatch(folder.ledger, resources.meter.rows, on_progress)
        self._cuts = StepMemo()
        self._free_bytes = free_bytes
        self._wait_seconds = (execution.index_timeout or WAIT_SECONDS) if wait_for_builder else 0.0
        self.built = False
        """Whether the last ``build_index`` built; ``False``: the index was up to date."""

    # --- what an engine says ------------------------------------------------------------------

    @property
    @abstractmethod
    def chunking(self) -> tuple[int, int, ChunkEnds]:
        """Size of a chunk and overlap of two, in tokens, and where chunks end."""

    @abstractmethod
    def paid_models(self) -> Sequence[PaidModel]:
        """Return the models that a build asks."""

    def check(self) -> None:
        """Find a missing key, package or price of what builds, before a document is read.

        Raises:
            ConfigError: Something is missing.
        """
        for model in self.paid_models():
            self._resources.check(model.settings, model.where)
            self._resources.reach.require_price(model.settings, model.kind, model.where)

    @abstractmethod
    async def fill(self, corpus: Corpus) -> Record:
        """Write every file of ``corpus.generation`` and return the record that publishes it.

        Raises:
            IndexingError: It failed; what was written is deleted.
        """

    @abstractmethod
    def needed_bytes(self, corpus: Corpus, width: int) -> int:
        """Estimate the size of a generation whose vectors are of ``width`` numbers."""

    @abstractmethod
    async def estimate_rows(self, corpus: Corpus) -> list[EstimateRow]:
        """Return what filling a generation will ask of models, step by step, without prices."""

    def holds(self, record: Record, corpus: Corpus) -> bool:
        """Tell whether an index of the same settings holds these texts and no others.

        Then no model is asked anything, not even whether it is there.
        """
        return False

    def check_always(self) -> None:
        """Find a setting that cannot be kept, also when the index is up to date.

        Raises:
            ConfigError: It cannot be kept.
        """

    def finish(self, record: Record) -> None:
        """Write what goes with an index, also when it was up to date."""

    # --- the frame ----------------------------------------------------------------------------

    async def build_index(
        self, source_path: Path, force: bool = False, *, retry_failed: RetryFailed = False
    ) -> Record:
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
            IndexingError: The build failed; nothing was published.
        """
        self.built = False
        if self.is_given(force):
            return self._folder.published()
        source = await self.find_source(source_path)
        self.check_always()
        reason = await asyncio.to_thread(self.stale_reason, source, force, retry_failed)
        if reason is None:
            record = self._folder.published()
            await self._sweep_leftovers()
        elif reason == SKIPPED_CHANGED:
            record = await self._list_skipped(source)
        else:
            record = await self._build_alone(source, force, retry_failed)
        self.finish(record)
        return record

    async def estimate(
        self, source_path: Path, force: bool = False, *, retry_failed: RetryFailed = False
    ) -> Estimate:
        """Return what ``build_index`` would ask of models; no model is asked, no file is written.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
        """
        if self.is_given(force):
            return Estimate(reason=None)
        source = await self.find_source(source_path)
        reason = await asyncio.to_thread(self.stale_reason, source, force, retry_failed)
        if reason in (None, SKIPPED_CHANGED):
            return Estimate(reason=reason)
        corpus = replace(
            await self._read(source, self._folder.new_generation(), force),
            force=force,
            retry_failed=retry_failed,
            vector_width=self._indexed_width() or None,
        )
        models = self.paid_models()
        corpus = replace(corpus, held_in=await self._held_in(corpus, reason))
        rows = probe_rows(models, self._resources) if corpus.needs_models else []
        served = [each for each in models if self._resources.reach.is_served(each.settings)]
        if corpus.prepared.text_units and served:
            rows += await self.estimate_rows(corpus)
        providers = {each.settings.provider for each in served}
        return Estimate(
            reason=reason,
            documents=len(corpus.prepared.documents),
            chunks=len(corpus.prepared.text_units),
            rows=tuple(
                priced(row, models, self._resources) for row in rows if row.provider in providers
            ),
        )

    async def _sweep_leftovers(self) -> None:
        """Delete what a killed build left, if this process may."""
        if not await asyncio.to_thread(self._folder.has_leftovers):
            return
        try:
            async with builder_lock(self._folder.lock_path, self._tool.name, wait_seconds=0):
                await asyncio.to_thread(self._folder.tidy)
        except (IndexBusyError, ConfigError):
            logger.debug("what a killed build left in %s stays for now", self._folder.root)

    async def _list_skipped(self, source: Path) -> Record:
        """Say in the record what is skipped now; whoever may not write there leaves it as it is."""
        try:
            async with builder_lock(self._folder.lock_path, self._tool.name, wait_seconds=0):
                if await asyncio.to_thread(self.stale_reason, source) == SKIPPED_CHANGED:
                    return await asyncio.to_thread(self.note_skipped, source)
        except IndexBusyError:
            logger.debug("who builds the index in %s lists what is skipped", self._folder.root)
        except (ConfigError, OSError) as error:
            logger.warning(
                "other files are skipped than the index of tool %r says, and its record cannot be "
                "written: %s",
                self._tool.name,
                error,
            )
        return self._folder.published()

    async def _build_alone(self, source: Path, force: bool, retry_failed: RetryFailed) -> Record:
        self.check()
        self._folder.create()
        if self._is_served:
            self._resources.paid.check()
        lock = builder_lock(
            self._folder.lock_path, self._tool.name, wait_seconds=self._wait_seconds
        )
        async with lock:
            reason = await asyncio.to_thread(self.stale_reason, source, force, retry_failed)
            if reason is None:  # the other builder was faster
                return self._folder.published()
            level = logging.WARNING if reason.startswith(DAMAGED) else logging.INFO
            logger.log(level, "building the index of tool %r: %s", self._tool.name, reason)
            with self._watch.accounted(), self._resources.capped(self._execution.max_cost):
                return await self._build(source, reason, force, retry_failed)

    async def _build(
        self, source: Path, reason: str, force: bool, retry_failed: RetryFailed
    ) -> Record:
        generation = self._folder.new_generation()
        # After the new name is chosen: the process of a killed build may still write there.
        await asyncio.to_thread(self._folder.sweep)
        started = time.monotonic()
        title = f"building the index of tool {self._tool.name!r}: {reason}"
        with keep_log(self._folder.logs_dir, generation, title, self._published_counts) as log:
            self._watch.log = log
            async with in_time(self._execution.index_timeout, self._tool.name, self._folder.root):
                read = await self._read(source, generation, force)
                corpus = replace(read, force=force, retry_failed=retry_failed)
                self._check_space(corpus)
                corpus = replace(corpus, held_in=await self._held_in(corpus, reason))
                width = await self._ask_models(corpus)
                record = await self._publish(replace(corpus, vector_width=width))
        self.built = True
        logger.info("indexed %s in %.1fs", self._published_counts(), time.monotonic() - started)
        self._hashes.save()
        self._cuts.write(self._folder.root / CUTS_FILE)
        await to_its_end(self._folder.tidy)
        return record

    def _published_counts(self) -> str:
        return counts_in_words(self._folder.published().counts)

    def _check_space(self, corpus: Corpus) -> None:
        record = self._folder.record()
        width = (record.vector_size if record else 0) or _USUAL_WIDTH
        free = self._free_bytes(self._folder.root)
        check_space(self._folder.root, self.needed_bytes(corpus, width), free, self._tool.name)

    async def _ask_models(self, corpus: Corpus) -> int | None:
        """Ask each model one word, where one is needed, and return the width of the vectors."""
        if not corpus.needs_models:
            return None
        return await ask_models_once(
            self._resolved, self._resources, indexed_width=self._indexed_width()
        )

    async def _held_in(self, corpus: Corpus, reason: str) -> str | None:
        """Return the generation that holds the same texts, whatever their files' names are."""
        record = self._folder.record()
        if record is None or corpus.force or corpus.retry_failed or not corpus.prepared.text_units:
            return None
        if reason.startswith(DAMAGED) or self.foreign_version(record):
            return None
        if not differ_in_texts_alone(record.settings, corpus.settings):
            return None
        holds = await asyncio.to_thread(self.holds, record, corpus)
        return record.generation if holds else None

    async def _read(self, source: Path, generation: str, force: bool) -> Corpus:
        self._watch.tell(Progress(step="read"))
        about = f"{CHUNKING_VERSION} {ENCODING_NAME} {self.chunking}"
        self._cuts = StepMemo(None if force else self._folder.root / CUTS_FILE, about)
        options = read_options(self._tool, self._execution)
        reading = await asyncio.to_thread(read_source, source, options, hashes=self._hashes)
        prepared = await asyncio.to_thread(
            prepare, reading.documents, *self.chunking, memo=self._cuts
        )
        for step, found in (("read", prepared.documents), ("chunk", prepared.text_units)):
            self._watch.tell(Progress(step=step, done=len(found), total=len(found)))
        return Corpus(
            tool_name=self._tool.name,
            source=source,
            reading=reading,
            prepared=prepared,
            settings=self.shaping_settings(),
            generation=generation,
        )

    async def _publish(self, corpus: Corpus) -> Record:
        """Fill the generation, then replace the record; half a generation serves nobody."""
        try:
            with self._noting_uses(corpus) as taken:
                filled = await self.fill(corpus)
                spending = self._watch.spending(filled.spending, taken())
            files = await to_its_end(self._folder.mark_files, corpus.generation)
            record = replace(filled, files=files, spending=spending)
            self._watch.tell(Progress(step="publish", done=0, total=1))
            await asyncio.sleep(0)  # who cancelled it by now is told that the index is as it was
            self._folder.commit(record)
            if self._is_served:
                self._resources.paid.keep_uses(self._folder.root, corpus.generation)
            self._watch.tell(Progress(step="publish", done=1, total=1))
        except BaseException:
            self._folder.discard(corpus.generation)
            raise
        return record

    @property
    def _is_served(self) -> bool:
        """Whether a server is asked for anything: what is in this process is not kept."""
        return any(self._resources.reach.is_served(each.settings) for each in self.paid_models())

    def _noting_uses(self, corpus: Corpus) -> AbstractContextManager[Callable[[], int]]:
        if not self._is_served:
            return nullcontext(lambda: 0)
        return self._resources.paid.used_by(self._folder.root, corpus.generation)
