"""The default engine: finds passages of the documents by meaning, by words, or by both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from holodeck.errors import HolodeckError, SearchError, TableNotFoundError
from holodeck.lib.contracts import ProgressListener, Reranker
from holodeck.lib.indexes.engine import IndexEngine
from holodeck.lib.questions import accept_question
from holodeck.lib.results import Passage, SearchResult, Source, format_passages
from holodeck.lib.vectorstore.chunks import StoredChunk
from holodeck.lib.vectorstore.indexing import EMBEDDING, VectorIndexer
from holodeck.lib.vectorstore.modes import SEARCH_MODES
from holodeck.lib.vectorstore.rerank import reranked
from holodeck.lib.vectorstore.storage import VectorFolder, VectorRecord
from holodeck.models.reranker import RerankerConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.vectorstore.search import Question
    from holodeck.lib.vectorstore.store import ChunkStore, OpenStore

__all__ = ["VectorEngine"]

RERANKED = 50
"""Passages that are reranked where YAML does not say."""

EMPTY_INDEX = "the index is empty: no file of the source gave any text"
UNKNOWN_WORDS = (
    "the embedding model knows no word of the question, so nothing could be found by meaning"
)


_Found = tuple[list[tuple[StoredChunk, float]], tuple[str, ...]]
"""Chunks with their scores, best first, and what the user should know."""


class VectorEngine(IndexEngine[VectorRecord, "OpenStore"]):
    """Passages of the documents, found by meaning, by words, or by both.

    Every build is in this process. ``retry_failed`` changes nothing: an index of this engine lacks
    no piece, since a call that fails ends the build.
    """

    name: ClassVar[str] = "default"
    modes: ClassVar[tuple[str, ...]] = tuple(SEARCH_MODES)
    faster: ClassVar[str] = "a faster embedding model"

    _folder: VectorFolder

    def make_folder(self, base_dir: Path) -> VectorFolder:
        """Return the folder of the index."""
        return VectorFolder(self.config, base_dir)

    def make_indexer(
        self, *, in_process: bool, on_progress: ProgressListener | None, wait_for_builder: bool
    ) -> VectorIndexer:
        """Return who builds the index."""
        return VectorIndexer(
            self._resolved,
            self._folder,
            execution=self._execution,
            resources=self._resources,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
        )

    @property
    def default_mode(self) -> str:
        """The search mode that the tool is configured with."""
        return self.config.mode

    def open_generation(self, record: VectorRecord) -> OpenStore:
        """Open the store that a record names; of its bytes those are checked that are read."""
        # Here and not above: it imports numpy.
        from holodeck.lib.vectorstore.store import OpenStore

        store = OpenStore(
            self._folder.store_folder(record.generation),
            lambda: self._folder.check(record, by_content=True),
        )
        if len(store) != record.chunk_count:
            raise TableNotFoundError.of(
                f"the chunks in {self._folder.root} are {len(store):,}, and "
                f"{record.chunk_count:,} were written"
            )
        return store

    async def answer(
        self, content: OpenStore, query: str, *, mode: str, answer: bool
    ) -> SearchResult:
        """Return the best passages for a question; their text is the response."""
        from holodeck.lib.vectorstore.search import Question

        text, notes = accept_question(query)
        chunks: list[tuple[StoredChunk, float]] = []
        if not len(content):
            notes = (*notes, EMPTY_INDEX)
        else:
            question = Question(text=text, vector=await self._embed(content, text, mode))
            if question.vector is not None and not question.vector.any():
                notes = (*notes, UNKNOWN_WORDS)
            chunks, more = await asyncio.to_thread(self._find, content, question, mode)
            notes = (*notes, *more)
            if self.config.rerank and chunks:
                chunks, more = await reranked(text, chunks, self._reranker())
                notes = (*notes, *more)
                chunks = chunks[: self.config.top_k]
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

    async def _embed(self, store: OpenStore, text: str, mode: str) -> NDArray[np.float32] | None:
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

    def _reranker(self) -> Reranker:
        return self._resources.reranker(self.config.reranker or RerankerConfig())

    def _find(self, content: OpenStore, question: Question, mode: str) -> _Found:
        try:
            return content.ask(lambda store: self._find_in(store, question, mode))
        except HolodeckError:
            raise
        except (OSError, RuntimeError, ValueError) as error:
            raise SearchError(
                f"the index of tool {self.config.name!r} in {self._folder.root} cannot be read "
                f"({type(error).__name__}: {error}): build it again with 'holodeck index'"
            ) from error

    def _find_in(self, store: ChunkStore, question: Question, mode: str) -> _Found:
        from holodeck.lib.vectorstore.search import find
        from holodeck.lib.vectorstore.why_nothing import nothing_is_near, nothing_passes

        wanted, limit = self.config.filter, self.config.min_similarity_score
        places = store.wanted(wanted) if wanted else None
        if wanted and places is not None and not places.any():
            return [], (nothing_passes(store, wanted),)
        allowed = None if places is None else store.owners(places)
        ranked = find(
            store, question, mode, top_k=self._wanted, least_similarity=limit, allowed=allowed
        )
        if not ranked and limit is not None:
            return [], (nothing_is_near(store, question, limit, allowed),)
        chunks = store.read([hit.row for hit in ranked], places)
        return [(chunk, hit.score) for chunk, hit in zip(chunks, ranked, strict=True)], ()

    @property
    def _wanted(self) -> int:
        """How many passages a search looks for: those that are reranked, else those returned."""
        if not self.config.rerank:
            return self.config.top_k
        return self.config.rerank_top_n or max(RERANKED, self.config.top_k)

    def render(self, query: str, result: SearchResult) -> str:
        """Return the passages and their sources as the text that an agent reads."""
        question, _ = accept_question(query)
        return format_passages(question, result)


def _passage(chunk: StoredChunk, score: float) -> Passage:
    first, *more = (
        Source(
            place=at.place,
            text_unit_id=chunk.id,
            text=chunk.text,
            record_id=at.record.id,
            metadata=at.record.metadata,
        )
        for at in chunk.places
    )
    return Passage(text=chunk.text, score=score, source=first, also=tuple(more))
