"""Entities, reports and text units → vectors in LanceDB, under the library's table names.

Steps hand over texts as they have them; they are embedded in full batches while other steps run.
Vectors are normalised, so that the distance that LanceDB searches by agrees with the cosine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from holodeck.errors import CostLimitError, HolodeckError, IndexingError
from holodeck.lib.contracts import Embedder, Progress
from holodeck.lib.graphrag.tables import read_columns, write_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.graphrag.build import Build

__all__ = ["VECTOR_TABLES", "Embedding", "embed_tables"]

VECTOR_TABLES = {
    "entity_description": "entities",
    "community_full_content": "community_reports",
    "text_unit_text": "text_units",
}
"""Vector table → the table whose rows it describes."""

SEARCHED = ("entity_description", "text_unit_text")
"""The vector tables that a search works on."""

BATCH_TEXTS = 256
BATCH_BYTES = 250_000
"""What a provider sends at once: a batch that is one request."""

ROWS_AT_ONCE = 2048


_Place = tuple[str, str]  # vector table, id


class Embedding:
    """The texts that were handed over to be embedded, and what became of them.

    Args:
        embedder: Asked for what it does not keep, in full batches.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[_Place, NDArray[np.float32]] = {}
        self._new: list[tuple[_Place, str]] = []
        self._waiting: list[tuple[_Place, str]] = []
        self._bytes = 0
        self._running: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self.handed_over = 0
        self.width = 0
        self.written: dict[str, NDArray[np.float32]] = {}
        """Vector table → its vectors as they were written, of those that a search works on."""

    def add(self, table: str, texts: Iterable[tuple[str, str]]) -> None:
        """Take (id, text) pairs of a vector table; a full batch is sent at once.

        Raises:
            IndexingError: A batch that was sent before could not be embedded.
        """
        self._raise_failure()
        for key, text in texts:
            self._new.append(((table, key), text))
            self.handed_over += 1
        if len(self._new) >= BATCH_TEXTS:
            self._sort()

    def _sort(self) -> None:
        """Tell what is kept from what must be asked for."""
        new, self._new = self._new, []
        kept = self._embedder.kept([text for _, text in new])
        for place, text in new:
            if text in kept:
                self._vectors[place] = kept[text]
            else:
                self._wait(place, text)

    def _wait(self, place: _Place, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        if self._waiting and self._bytes + size > BATCH_BYTES:
            self._send()
        self._waiting.append((place, text))
        self._bytes += size
        if len(self._waiting) == BATCH_TEXTS:
            self._send()

    def _send(self) -> None:
        batch, self._waiting, self._bytes = self._waiting, [], 0
        task = asyncio.get_running_loop().create_task(self._embed(batch))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _embed(self, batch: Sequence[tuple[_Place, str]]) -> None:
        try:
            rows = await self._embedder.embed([text for _, text in batch])
        except HolodeckError as error:
            self._failure = self._failure or error
            return
        self._vectors.update(zip((place for place, _ in batch), rows, strict=True))

    def _raise_failure(self) -> None:
        if isinstance(self._failure, CostLimitError):
            raise self._failure
        if self._failure is not None:
            raise IndexingError(
                f"the index could not be embedded: {self._failure}. What was paid for is kept: "
                "run 'holodeck index' again to go on"
            ) from self._failure

    async def finish(self) -> None:
        """Embed what is left; every text that was handed over has its vector then.

        Raises:
            IndexingError: Some could not be embedded.
        """
        self._sort()
        if self._waiting:
            self._send()
        await asyncio.gather(*self._running)
        self._raise_failure()
        widths = {len(vector) for vector in self._vectors.values()}
        if len(widths) > 1:
            raise IndexingError(
                f"the embedding model gave vectors of {sorted(widths)} numbers in one build: an "
                "index holds one width; check the embedding model"
            )
        self.width = max(widths, default=0)

    async def close(self) -> None:
        """Stop what is still running."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def take(self, table: str, ids: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of a table, in the order of ``ids``, and forget them."""
        return [self._vectors.pop((table, key)) for key in ids]


async def embed_tables(build: Build) -> None:
    """Write the three vector tables; ids are those of the rows that the texts came from."""
    embedding = build.embedding
    build.report(Progress(step="embed", done=0, total=embedding.handed_over))
    await embedding.finish()
    build.report(Progress(step="embed", done=embedding.handed_over, total=embedding.handed_over))
    build.counts["vector_size"] = embedding.width
    for table, described in VECTOR_TABLES.items():
        ids = read_columns(build.output, described, ["id"])["id"]
        if ids:
            _write(build, table, ids)


def _write(build: Build, table: str, ids: Sequence[str]) -> None:
    import numpy as np

    width = build.embedding.width
    matrix: NDArray[np.float32] | None = None
    if table in SEARCHED:
        matrix = build.embedding.written[table] = np.empty((len(ids), width), dtype=np.float32)

    def parts() -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(ids), ROWS_AT_ONCE):
            numbers = build.embedding.take(table, ids[start : start + ROWS_AT_ONCE])
            room = None if matrix is None else matrix[start : start + ROWS_AT_ONCE]
            yield np.stack(numbers, out=room)

    write_vectors(build.vectors, table, ids, parts(), width)
