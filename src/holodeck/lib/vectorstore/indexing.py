"""Documents → a generation of chunks and their vectors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from holodeck.errors import TableNotFoundError
from holodeck.lib.chunking import ChunkEnds
from holodeck.lib.contracts import Progress
from holodeck.lib.indexes.corpus import Corpus
from holodeck.lib.indexes.indexer import Indexer, to_its_end
from holodeck.lib.vectorstore.embed import embed_chunks
from holodeck.lib.vectorstore.settings import EMBEDDING_SETTINGS, embedding_key, shaping_settings
from holodeck.lib.vectorstore.storage import VectorFolder, VectorRecord
from holodeck.lib.vectorstore.store import open_store, write_store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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

    def check(self) -> None:
        """Find a missing key or package of the embedding model."""
        self._resources.check(self._resolved.embedding, self._resolved.embedding_where)

    async def fill(self, corpus: Corpus) -> VectorRecord:
        """Embed what is new and write the store; a forced build embeds everything anew."""
        vectors = await self._embed(corpus)
        self._on_progress(Progress(step="store"))
        chunks = corpus.prepared.text_units
        store = self._folder.store_folder(corpus.generation)
        await to_its_end(write_store, store, chunks, vectors)
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
        known: dict[str, NDArray[np.float32]] = {}
        if self._execution.cache == "renew":
            unfinished.clear()
        else:
            known = {} if corpus.force else await asyncio.to_thread(self._stored_vectors, corpus)
            ids, rows = await asyncio.to_thread(unfinished.read)
            known |= dict(zip(ids, rows, strict=True))
        width = corpus.vector_width
        if width is not None:
            known = {key: row for key, row in known.items() if len(row) == width}
        return await embed_chunks(
            chunks,
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

    def _stored_vectors(self, corpus: Corpus) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the published index that the same model made, by chunk.

        Those of a damaged index are left: what was paid for is in the cache of replies.
        """
        record = self._folder.record()
        if record is None or embedding_key(record.settings) != embedding_key(corpus.settings):
            return {}
        damage = self._folder.damage(record, by_content=True)
        if damage is None:
            try:
                store = open_store(self._folder.store_folder(record.generation))
                return dict(zip(store.ids, store.vectors, strict=True))
            except TableNotFoundError as error:
                damage = error.damage
        logger.warning(
            "the vectors of tool %r are not taken over: %s. Those in the cache of replies are, "
            "others are embedded again",
            self._tool.name,
            damage,
        )
        return {}
