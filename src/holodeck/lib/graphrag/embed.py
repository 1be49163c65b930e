"""Entities, reports and text units → vectors in LanceDB, under the library's table names.

Vectors are normalised, so that the distance that LanceDB searches by agrees with the cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holodeck.errors import HolodeckError, IndexingError
from holodeck.lib.contracts import Progress
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.tables import read_rows, write_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["VECTOR_TABLES", "embed_tables"]

VECTOR_TABLES = ("entity_description", "community_full_content", "text_unit_text")
BATCH = 512
"""Texts handed to the embedder at once; a provider cuts them to what its server takes."""


async def embed_tables(build: Build) -> None:
    """Write the three vector tables; ids are those of the rows that the texts came from."""
    entities = read_rows(build.output, "entities", ["id", "title", "description"])
    reports = read_rows(build.output, "community_reports", ["id", "full_content"])
    units = read_rows(build.output, "text_units", ["id", "text"])
    texts = {
        "entity_description": [
            (row["id"], f"{row['title']}:{row['description']}") for row in entities
        ],
        "community_full_content": [(row["id"], row["full_content"]) for row in reports],
        "text_unit_text": [(row["id"], row["text"]) for row in units],
    }
    total = sum(len(rows) for rows in texts.values())
    done = 0
    for table in VECTOR_TABLES:
        vectors = []
        for start in range(0, len(texts[table]), BATCH):
            batch = texts[table][start : start + BATCH]
            vectors.append(await _embed(build, [text for _, text in batch]))
            done += len(batch)
            build.report(Progress(step="embed", done=done, total=total))
        if vectors:
            _write(build, table, [key for key, _ in texts[table]], vectors)


async def _embed(build: Build, texts: Sequence[str]) -> NDArray[np.float32]:
    try:
        return await build.embedder.embed(texts)
    except HolodeckError as error:
        raise IndexingError(
            f"the index could not be embedded: {error}. What was paid for is kept: run "
            "'holodeck index' again to go on"
        ) from error


def _write(
    build: Build, table: str, ids: Sequence[str], vectors: Sequence[NDArray[np.float32]]
) -> None:
    import numpy as np

    matrix = np.concatenate(vectors)
    width = matrix.shape[1]
    if build.counts.setdefault("vector_size", width) != width:
        raise IndexingError(
            f"the embedding model gave vectors of {build.counts['vector_size']} and of {width} "
            "numbers in one build: an index holds one width; check the embedding model"
        )
    write_vectors(build.vectors, table, ids, matrix)
