"""Documents → a generation of chunks and their vectors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from holodeck.errors import TableNotFoundError
from holodeck.lib.chunking import ChunkEnds
from holodeck.lib.contracts import EstimateRow, Progress, Span
from holodeck.lib.indexes.corpus import Corpus
from holodeck.lib.indexes.indexer import Indexer, PaidModel
from holodeck.lib.indexes.threads import to_its_end
from holodeck.lib.tokens import count_tokens
from holodeck.lib.unasked import UnaskedResources, batches_of
from holodeck.lib.vectorstore.embed import batches_to_embed, embed_chunks
from holodeck.lib.vectorstore.settings import EMBEDDING_SETTINGS, embedding_key, shaping_settings
from holodeck.lib.vectorstore.storage import VectorFolder, VectorRecord
from holodeck.models.reranker import RerankerConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.vectorstore.unfinished import UnfinishedVectors

__all__ = ["EMBEDDING", "VectorIndexer"]

logger = logging.getLogger(__name__)

EMBEDDING = "embedding_model"
"""The setting that messages name when the embedding model cannot be used."""


class VectorIndexer(Indexer[VectorRecord]):
    """Builds the index of one tool, aside, and publishes it in one step."""

    embedding_settings: ClassVar[tuple[str, ...]] = EMBEDDING_SETTINGS

    _folder: VectorFolder

    @property
    def chunking(self) -> tuple[int, int, ChunkEnds]:
        """Size of a chunk and overlap of two, in tokens."""
        return self._tool.chunk_size, self._tool.chunk_overlap, self._tool.chunk_ends

    def shaping_settings(self) -> Mapping[str, str]:
        """Return every setting and version that shapes the index, by its YAML name."""
        return shaping_settings(self._resolved)

    def paid_models(self) -> list[PaidModel]:
        """Return the embedding model."""
        where = self._resolved.embedding_where
        return [PaidModel(settings=self._resolved.embedding, kind="embedding", where=where)]

    def needed_bytes(self, corpus: Corpus, width: int) -> int:
        """Estimate: table and words are 4 times the text, measured 3.5.

        A chunk is its vector in the table, in what is derived and roughly again, and 500 bytes.
        """
        return 4 * corpus.text_bytes + len(corpus.prepared.text_units) * (10 * width + 500)

    def holds(self, record: VectorRecord, corpus: Corpus) -> bool:
        """Tell whether each chunk has its vector, wherever it stands now."""
        if self._execution.cache == "renew":
            return False
        # Here and not above: it imports numpy.
        from holodeck.lib.vectorstore.store import OpenStore

        try:
            store = OpenStore(
                self._folder.store_folder(record.generation),
                lambda: self._folder.check(record, by_content=True),
            )
            held = store.ask(lambda opened: set(opened.ids))
        except TableNotFoundError:  # said where the vectors themselves are read
            return False
        return held.issuperset(unit.id for unit in corpus.prepared.text_units)

    def check(self) -> None:
        """Find a missing key or package of the models, the reranker among them."""
        super().check()
        if self._tool.rerank:
            self._resources.check_reranker(self._tool.reranker or RerankerConfig())

    async def fill(self, corpus: Corpus) -> VectorRecord:
        """Embed what is new and write the store; a forced build embeds everything anew."""
        vectors = await self._embed(corpus)
        self._watch.tell(Progress(step="store"))
        # Here and not above: it imports numpy.
        from holodeck.lib.vectorstore.store import write_store

        chunks = corpus.prepared.text_units
        store = self._folder.store_folder(corpus.generation)
        await to_its_end(write_store, store, chunks, vectors, corpus.prepared.records)
        return VectorRecord(
            **corpus.record_fields(),
            document_count=len(corpus.prepared.documents),
            chunk_count=len(chunks),
            vector_size=vectors.shape[1],
            warnings=tuple(corpus.warnings),
        )

    async def _embed(self, corpus: Corpus) -> NDArray[np.float32]:
        import numpy as np

        chunks = corpus.prepared.text_units
        if not chunks:
            return np.zeros((0, 0), dtype=np.float32)
        unfinished = self._folder.unfinished(*embedding_key(corpus.settings))
        if self._execution.cache == "renew":
            unfinished.clear()
        known = await self._known(corpus, unfinished)
        width = corpus.vector_width
        embedder = self._resources.embedder(
            self._resolved.embedding, EMBEDDING, self._tool.embedding_dimensions, width=width
        )
        # Vectors that the index had already are in the cache too, for a forced build.
        self._resources.paid.note_vectors(embedder, (chunk.text for chunk in chunks))
        return await embed_chunks(
            chunks,
            embedder,
            known=known,
            unfinished=unfinished,
            on_progress=self._watch.tell,
        )

    async def _known(
        self, corpus: Corpus, unfinished: UnfinishedVectors
    ) -> dict[str, NDArray[np.float32]]:
        """Return the vectors that need no model, by chunk."""
        if self._execution.cache == "renew":
            return {}
        known = {} if corpus.force else await asyncio.to_thread(self._stored_vectors, corpus)
        ids, rows = await asyncio.to_thread(unfinished.read)
        known |= dict(zip(ids, rows, strict=True))
        width = corpus.vector_width
        return {key: row for key, row in known.items() if width in (None, len(row))}

    async def estimate_rows(self, corpus: Corpus) -> list[EstimateRow]:
        """Return what embedding the chunks will ask; it is known exactly."""
        unfinished = self._folder.unfinished(*embedding_key(corpus.settings))
        known = await self._known(corpus, unfinished)
        resources = UnaskedResources(
            self._execution,
            cache_dir=self._folder.cache_dir_for(self._execution),
            imagine=lambda request: "",
        )
        try:
            embedder = resources.embedder(
                self._resolved.embedding,
                EMBEDDING,
                self._tool.embedding_dimensions,
                width=corpus.vector_width,
            )
            batches = []
            for chunks in batches_to_embed(corpus.prepared.text_units, known):
                kept = embedder.kept([chunk.text for chunk in chunks])
                batches.append([chunk.text for chunk in chunks if chunk.text not in kept])
        finally:
            await resources.close()
        texts = [text for batch in batches for text in batch]
        if not texts or not self._resources.reach.is_served(self._resolved.embedding):
            return []
        return [
            EstimateRow(
                step="embed",
                provider=self._resolved.embedding.provider,
                model=self._resolved.embedding.name or "",
                calls=Span.exactly(sum(map(batches_of, batches))),
                input_tokens=Span.exactly(sum(map(count_tokens, texts))),
                texts=Span.exactly(len(texts)),
            )
        ]

    def _stored_vectors(self, corpus: Corpus) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the published index that the same model made, by chunk.

        Those of a damaged index are left: what was paid for is in the cache of replies.
        """
        from holodeck.lib.vectorstore.store import OpenStore

        record = self._folder.record()
        if record is None or embedding_key(record.settings) != embedding_key(corpus.settings):
            return {}
        damage = self._folder.damage(record, by_content=True)
        if damage is None:
            try:
                store = OpenStore(self._folder.store_folder(record.generation))
                return store.ask(lambda opened: dict(zip(opened.ids, opened.vectors, strict=True)))
            except TableNotFoundError as error:
                damage = error.damage
        logger.warning(
            "the vectors of tool %r are not taken over: %s. Those in the cache of replies are, "
            "others are embedded again",
            self._tool.name,
            damage,
        )
        return {}
