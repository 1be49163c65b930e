"""The default engine: builds the index when it must, keeps it open, finds passages in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from holodeck.errors import ConfigError, NotInitializedError, SearchError, TableNotFoundError
from holodeck.lib.contracts import IndexStatus, ProgressListener, RetryFailed, SearchEngine
from holodeck.lib.indexes.generations import lease_current
from holodeck.lib.indexes.leases import Lease
from holodeck.lib.paths import resolve_cache_dir, resolve_source
from holodeck.lib.questions import accept_question
from holodeck.lib.resources import Resources, resolve_tool
from holodeck.lib.results import Passage, SearchResult, Source, format_passages
from holodeck.lib.vectorstore.indexing import EMBEDDING, VectorIndexer
from holodeck.lib.vectorstore.search import SEARCH_MODES, Question, find
from holodeck.lib.vectorstore.storage import IndexFolder, IndexRecord
from holodeck.lib.vectorstore.store import ChunkStore, StoredChunk, open_store
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["VectorEngine"]

EMPTY_INDEX = "the index is empty: no file of the source gave any text"
UNKNOWN_WORDS = (
    "the embedding model knows no word of the question, so nothing could be found by meaning"
)


@dataclass(frozen=True, kw_only=True)
class _Opened:
    """A generation that is open."""

    record: IndexRecord
    store: ChunkStore
    lease: Lease


class VectorEngine(SearchEngine):
    """Passages of the documents, found by meaning, by words, or by both.

    Args:
        config: A tool with ``engine: default``.
        base_dir: What relative paths resolve against; default: the working directory.
        execution_config: Time budgets, concurrency, retries and cache.
        agent_model: The model whose provider embeds.
        environ: Where keys and servers are looked for; default: the process's variables.
        resources: Where models come from; default: the providers.
        in_process: Every build is in this process; taken because all engines take it.
        on_progress: Told how far a build is.
        wait_for_builder: Wait while another process builds the index instead of failing at once.

    Raises:
        ConfigError: Also a ``ValueError``: the tool has another engine.
    """

    modes: ClassVar[tuple[str, ...]] = tuple(SEARCH_MODES)

    def __init__(
        self,
        config: VectorstoreTool,
        base_dir: str | None = None,
        execution_config: ExecutionConfig | None = None,
        *,
        agent_model: LLMProvider | None = None,
        environ: Mapping[str, str] | None = None,
        resources: Resources | None = None,
        in_process: bool = False,  # there is no other way here
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
    ) -> None:
        if config.engine != "default":
            raise ConfigError(
                f"VectorEngine requires engine='default', got {config.engine!r}: use "
                "VectorStoreTool for any engine"
            )
        base = Path(base_dir) if base_dir else Path.cwd()
        self.config = config
        self._execution = execution_config or ExecutionConfig()
        self._resolved = resolve_tool(config, agent_model)
        self._source = resolve_source(config, base)
        self._folder = IndexFolder(config, base)
        self._resources = resources or Resources(
            self._execution, environ=environ, cache_dir=resolve_cache_dir(self._execution, base)
        )
        self._indexer = VectorIndexer(
            self._resolved,
            self._source,
            self._folder,
            execution=self._execution,
            resources=self._resources,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
        )
        self._opened: _Opened | None = None

    @property
    def is_initialized(self) -> bool:
        """Whether ``search`` may be called."""
        return self._opened is not None

    @property
    def index_stats(self) -> dict[str, int]:
        """Counts of the opened index: files, documents, chunks."""
        return {} if self._opened is None else self._opened.record.counts

    @property
    def was_built(self) -> bool:
        """Whether the last ``initialize`` built; ``False``: the index was up to date."""
        return self._indexer.built

    def status(self) -> IndexStatus:
        """Say what is indexed and how fresh it is; calls no model and opens no table."""
        record = self._folder.record()
        location = str(self._folder.root)
        if self._source.exists():
            reason = self._indexer.stale_reason()
        else:
            reason = f"the source {self._source} does not exist"
        if record is None:
            return IndexStatus(location=location, stale_reason=reason)
        return IndexStatus(
            location=location,
            indexed_at=record.indexed_at,
            stale_reason=reason,
            counts=record.counts,
            skipped=record.skipped,
            warnings=record.warnings,
        )

    async def initialize(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> None:
        """Build or update the index when needed, then open it.

        Args:
            force_reindex: Build even when nothing changed, also when already initialised.
            retry_failed: Changes nothing: an index of this engine lacks no piece, since a call
                that fails ends the build.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
            IndexingError: The index could not be built; the old one is untouched.
        """
        if self.is_initialized and not force_reindex:
            return
        await self._indexer.build(force_reindex)
        await self._reopen()

    async def open_existing(self) -> None:
        """Open the index that is there, stale or not; nothing is built.

        Raises:
            SearchError: There is no index.
        """
        if self._folder.record() is None:
            raise SearchError(
                f"tool {self.config.name!r} has no index yet in {self._folder.root}: build it with "
                "'holodeck index'"
            )
        await self._reopen()

    async def _reopen(self) -> None:
        opened = await asyncio.to_thread(self._open)
        self._release()
        self._opened = opened

    def _open(self) -> _Opened:
        try:
            record, lease = lease_current(self._indexer.published, self._folder.lease)
        except FileNotFoundError as error:
            raise TableNotFoundError(
                f"the store of tool {self.config.name!r} is not in {self._folder.root}: build the "
                "index again with 'holodeck index --force'"
            ) from error
        try:
            store = open_store(self._folder.store_folder(record.generation))
        except BaseException:
            lease.release()
            raise
        return _Opened(record=record, store=store, lease=lease)

    async def retrieve(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """Return the best passages for a question; their text is the response.

        Raises:
            NotInitializedError: Also a ``RuntimeError``.
            ConfigError: There is no such mode.
            EmptyQueryError: There is no question.
            SearchError: The question could not be answered, or not within
                ``execution.search_timeout``.
        """
        opened = self._opened
        if opened is None:
            raise NotInitializedError(
                f"engine of tool {self.config.name!r} is not initialized: call initialize() first"
            )
        chosen = mode or self.config.mode
        if chosen not in SEARCH_MODES:
            raise ConfigError(
                f"engine: default has no search mode {chosen!r}: use one of "
                f"{', '.join(SEARCH_MODES)}"
            )
        budget = self._execution.search_timeout
        try:
            async with asyncio.timeout(budget) as limit:
                return await self._retrieve(opened.store, query, chosen, answer)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise SearchError(
                f"the {chosen} search of tool {self.config.name!r} took longer than {budget:g} s: "
                "raise execution.search_timeout, or use a faster embedding model"
            ) from error

    async def _retrieve(
        self, store: ChunkStore, query: str, mode: str, answer: bool
    ) -> SearchResult:
        text, notes = accept_question(query)
        chunks: list[tuple[StoredChunk, float]] = []
        if not store.ids:
            notes = (*notes, EMPTY_INDEX)
        else:
            question = Question(text=text, vector=await self._embed(store, text, mode))
            if question.vector is not None and not question.vector.any():
                notes = (*notes, UNKNOWN_WORDS)
            chunks = await asyncio.to_thread(self._find, store, question, mode)
        passages = [_passage(chunk, score) for chunk, score in chunks]
        result = SearchResult(
            response="",
            search_mode=mode,
            sources=tuple(source for passage in passages for source in passage.all_sources),
            context="\n\n".join(passage.text for passage in passages),
            passages=tuple(passages),
        )
        response = format_passages(text, result) if answer else ""
        return replace(result, response=response, notes=notes)

    async def _embed(self, store: ChunkStore, text: str, mode: str) -> NDArray[np.float32] | None:
        """Return the question's vector, where the mode or the least similarity needs it."""
        if not SEARCH_MODES[mode].needs_vector and self.config.min_similarity_score is None:
            return None
        embedder = self._resources.embedder(
            self._resolved.embedding,
            EMBEDDING,
            self.config.embedding_dimensions,
            width=store.width,
        )
        vector: NDArray[np.float32] = (await embedder.embed([text]))[0]
        if len(vector) != store.width:
            raise SearchError(
                f"the embedding model {embedder.name!r} ({embedder.provider}) gives vectors of "
                f"{len(vector)} numbers and the index holds vectors of {store.width}: build it "
                "again with 'holodeck index --force'"
            )
        return vector

    def _find(
        self, store: ChunkStore, question: Question, mode: str
    ) -> list[tuple[StoredChunk, float]]:
        try:
            ranked = find(
                store,
                question,
                mode,
                top_k=self.config.top_k,
                least_similarity=self.config.min_similarity_score,
            )
            chunks = store.read([hit.id for hit in ranked])
        except (OSError, RuntimeError, ValueError) as error:
            raise SearchError(
                f"the index of tool {self.config.name!r} in {self._folder.root} cannot be read "
                f"({type(error).__name__}: {error}): build it again with 'holodeck index --force'"
            ) from error
        return [(chunk, hit.score) for chunk, hit in zip(chunks, ranked, strict=True)]

    async def search(self, query: str, *, mode: str | None = None) -> str:
        """Return the passages and their sources as the text that an agent reads."""
        result = await self.retrieve(query, mode=mode, answer=False)
        question, _ = accept_question(query)
        return format_passages(question, result)

    async def close(self) -> None:
        """Release the index and the models; a second call does nothing."""
        self._release()
        await self._resources.close()

    def _release(self) -> None:
        if self._opened is not None:
            self._opened.lease.release()
            self._opened = None


def _passage(chunk: StoredChunk, score: float) -> Passage:
    first, *more = (
        Source(place=place, text_unit_id=chunk.id, text=chunk.text) for place in chunk.places
    )
    return Passage(text=chunk.text, score=score, source=first, also=tuple(more))
