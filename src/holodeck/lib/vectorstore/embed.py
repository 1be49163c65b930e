"""Chunks → vectors, and no text is embedded twice."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from holodeck.errors import CostLimitError, HolodeckError, IndexingError
from holodeck.lib.contracts import Embedder, Progress, ProgressListener
from holodeck.lib.indexes.text_units import TextUnit
from holodeck.lib.vectorstore.unfinished import UnfinishedVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["batches_to_embed", "embed_chunks"]

BATCH = 256
"""Texts handed to the embedder at once; a provider cuts them to what its server takes."""


async def embed_chunks(
    chunks: Sequence[TextUnit],
    embedder: Embedder,
    *,
    known: dict[str, NDArray[np.float32]],
    unfinished: UnfinishedVectors,
    on_progress: ProgressListener,
) -> NDArray[np.float32]:
    """Return one row for each chunk, in order.

    Args:
        chunks: Not empty.
        embedder: Embeds what is not known.
        known: Vectors that are there already, by id; what is embedded is added to it.
        unfinished: Told of each batch that is embedded.
        on_progress: Told how far this is.

    Raises:
        IndexingError: The model failed, or gave vectors of another width than the known ones.
    """
    import numpy as np

    batches = batches_to_embed(chunks, known)
    done = len(chunks) - sum(map(len, batches))
    on_progress(Progress(step="embed", done=done, total=len(chunks)))
    width = next((len(vector) for vector in known.values()), None)
    for batch in batches:
        vectors = await _embed(embedder, [chunk.text for chunk in batch])
        if width is not None and vectors.shape[1] != width:
            unfinished.clear()
            raise IndexingError(_width_message(embedder, width, vectors.shape[1]))
        width = vectors.shape[1]
        ids = [chunk.id for chunk in batch]
        await asyncio.to_thread(unfinished.add, ids, vectors)
        known.update(zip(ids, vectors, strict=True))
        done += len(batch)
        on_progress(Progress(step="embed", done=done, total=len(chunks)))
    return np.stack([known[chunk.id] for chunk in chunks])


def batches_to_embed(chunks: Sequence[TextUnit], known: Container[str]) -> list[Sequence[TextUnit]]:
    """Return the chunks whose vectors are not known, as they are handed to the embedder."""
    missing = [chunk for chunk in chunks if chunk.id not in known]
    return [missing[start : start + BATCH] for start in range(0, len(missing), BATCH)]


async def _embed(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    try:
        return await embedder.embed(texts)
    except CostLimitError:
        raise
    except HolodeckError as error:
        raise IndexingError(
            f"the chunks could not be embedded: {error}. What was embedded is kept: build the "
            "index again to go on"
        ) from error


def _width_message(embedder: Embedder, old: int, new: int) -> str:
    return (
        f"the embedding model {embedder.name!r} ({embedder.provider}) gives vectors of {new} "
        f"numbers, and those that the index has are of {old}: it is another model under the same "
        "name. Embed everything anew with 'holodeck index --force'"
    )
