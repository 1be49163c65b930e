"""The chunks of one generation in LanceDB: written once, then only read.

One table: ids, texts, places, vectors, and the terms that its full-text index is made of. The
vectors are held in memory while a store is open, so that similarity is exact for every chunk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck.errors import IndexingError, TableNotFoundError
from holodeck.lib.documents import Place
from holodeck.lib.indexes.text_units import PlacedRecord, TextUnit
from holodeck.lib.ranking.terms import text_terms

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = [
    "STORE_VERSION",
    "ChunkStore",
    "Ranked",
    "StoredChunk",
    "StoredPlace",
    "open_store",
    "write_store",
]

STORE_VERSION = 2
"""Raised when the table's columns or its full-text index change; part of every config hash."""

_TABLE = "chunks"
_DECIMALS = 6  # of a score: beyond them equal texts differ by where they stand in the matrix
_LONGEST_TERM = 200  # bytes


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A chunk that was found; a higher score is better."""

    id: str
    score: float


@dataclass(frozen=True, kw_only=True)
class StoredPlace:
    """A place, and what comes with the record there."""

    place: Place
    record: PlacedRecord


@dataclass(frozen=True, kw_only=True)
class StoredChunk:
    """A chunk as it is stored, with every place where its text stands."""

    id: str
    text: str
    places: tuple[StoredPlace, ...]


def write_store(
    folder: Path,
    chunks: Sequence[TextUnit],
    vectors: NDArray[np.float32],
    records: Mapping[Place, PlacedRecord] | None = None,
) -> None:
    """Write a new store; without chunks it is an empty folder.

    Args:
        folder: Created here.
        chunks: In the order of their ids.
        vectors: Row ``i`` belongs to ``chunks[i]``; length 1, or zero.
        records: Place → what comes with the record there.

    Raises:
        IndexingError: It could not be written.
    """
    try:
        folder.mkdir(parents=True)
        if chunks:
            _write(folder, chunks, vectors, records or {})
    except (OSError, RuntimeError, ValueError) as error:
        raise IndexingError(
            f"the index could not be written to {folder}: {error}. The old index is untouched and "
            "what was embedded is kept: make room or mend the folder, and build again"
        ) from error


def _write(
    folder: Path,
    chunks: Sequence[TextUnit],
    vectors: NDArray[np.float32],
    records: Mapping[Place, PlacedRecord],
) -> None:
    import lancedb
    from lancedb.index import FTS

    table = lancedb.connect(str(folder)).create_table(_TABLE, _columns(chunks, vectors, records))
    table.create_index(
        "terms",
        config=FTS(
            base_tokenizer="whitespace",
            language="English",
            stem=True,
            ascii_folding=True,
            lower_case=False,
            remove_stop_words=False,
            with_position=False,
            max_token_length=_LONGEST_TERM,
        ),
    )


def _columns(
    chunks: Sequence[TextUnit],
    vectors: NDArray[np.float32],
    records: Mapping[Place, PlacedRecord],
) -> pa.Table:
    import pyarrow as pa

    place = pa.struct(
        [
            ("path", pa.string()),
            ("page", pa.int64()),
            ("row", pa.int64()),
            ("record_id", pa.string()),
            ("metadata", pa.string()),
        ]
    )
    places = [
        [_place_row(at, records.get(at, PlacedRecord())) for at in chunk.places] for chunk in chunks
    ]
    return pa.table(
        {
            "id": pa.array([chunk.id for chunk in chunks], pa.string()),
            "text": pa.array([chunk.text for chunk in chunks], pa.string()),
            "n_tokens": pa.array([chunk.n_tokens for chunk in chunks], pa.int64()),
            "terms": pa.array([" ".join(text_terms(chunk.text)) for chunk in chunks], pa.string()),
            "places": pa.array(places, pa.list_(place)),
            "vector": pa.FixedSizeListArray.from_arrays(
                pa.array(vectors.reshape(-1)), vectors.shape[1]
            ),
        }
    )


def _place_row(place: Place, record: PlacedRecord) -> dict[str, Any]:  # Any: a row of Arrow
    return {
        "path": place.path,
        "page": place.page,
        "row": place.row,
        "record_id": record.id,
        "metadata": json.dumps(dict(record.metadata), ensure_ascii=False),
    }


class ChunkStore:
    """A store opened for reading; safe to use from several threads."""

    def __init__(self, table: Any, ids: tuple[str, ...], vectors: NDArray[np.float32]) -> None:
        self._table = table  # Any: lancedb ships no types
        self._rows = {key: row for row, key in enumerate(ids)}
        self.ids = ids
        self.vectors = vectors

    @property
    def width(self) -> int:
        """Numbers in a vector; 0 for an empty store."""
        return int(self.vectors.shape[1])

    def nearest(self, vector: NDArray[np.float32], count: int) -> list[Ranked]:
        """Return the most similar chunks by cosine, exactly; what shares nothing is left out."""
        import numpy as np

        scores = np.round(self.vectors @ vector, _DECIMALS)
        # A stable sort: the ids are in order, so that they decide between equals.
        best = np.argsort(-scores, kind="stable")[:count]
        return [
            Ranked(id=self.ids[row], score=round(float(scores[row]), _DECIMALS))
            for row in best
            if scores[row] > 0
        ]

    def similarities(self, ids: Iterable[str], vector: NDArray[np.float32]) -> Mapping[str, float]:
        """Return the cosine of each chunk."""
        return {key: round(float(self.vectors[self._rows[key]] @ vector), _DECIMALS) for key in ids}

    def matching(self, terms: Sequence[str], count: int) -> list[Ranked]:
        """Return the chunks that hold any of the terms, best first, by BM25."""
        from lancedb.query import MatchQuery

        if not terms or self._table is None:
            return []
        query = MatchQuery(" ".join(terms), "terms")  # type: ignore[call-arg]  # pydantic fields
        found = self._table.search(query, query_type="fts").select(["id", "_score"]).limit(count)
        rows = found.to_arrow().to_pylist()
        ranked = [Ranked(id=row["id"], score=round(row["_score"], _DECIMALS)) for row in rows]
        return sorted(ranked, key=lambda hit: (-hit.score, hit.id))

    def where(self, accepts: Callable[[StoredChunk], bool]) -> frozenset[str]:
        """Return the chunks that are accepted by their places; their texts are left blank."""
        if self._table is None:
            return frozenset()
        found = self._table.search().select(["id", "places"]).limit(len(self.ids)).to_arrow()
        return frozenset(
            row["id"] for row in found.to_pylist() if accepts(_chunk({**row, "text": ""}))
        )

    def read(self, ids: Sequence[str]) -> list[StoredChunk]:
        """Return the chunks, in the order of ``ids``."""
        if not ids:
            return []
        listed = ", ".join(f"'{key}'" for key in ids)  # hex digits: nothing to escape
        found = (
            self._table.search()
            .where(f"id IN ({listed})")
            .select(["id", "text", "places"])
            .limit(len(ids))
        )
        chunks = {row["id"]: _chunk(row) for row in found.to_arrow().to_pylist()}
        return [chunks[key] for key in ids]


def open_store(folder: Path) -> ChunkStore:
    """Open the store in ``folder``; nothing is written.

    Raises:
        TableNotFoundError: It is missing or damaged.
    """
    import lancedb
    import numpy as np

    if folder.is_dir() and not (folder / f"{_TABLE}.lance").exists():
        return ChunkStore(None, (), np.zeros((0, 0), dtype=np.float32))
    try:
        table = lancedb.connect(str(folder)).open_table(_TABLE)
        found = table.search().select(["id", "vector"]).limit(table.count_rows()).to_arrow()
    except (OSError, RuntimeError, ValueError) as error:
        raise TableNotFoundError.of(
            f"the chunks in {folder} cannot be opened ({type(error).__name__}: {error})"
        ) from error
    found = found.sort_by("id")
    matrix = np.asarray(found["vector"].combine_chunks().flatten(), dtype=np.float32)
    ids = tuple(found["id"].to_pylist())
    return ChunkStore(table, ids, matrix.reshape(len(ids), -1))


def _chunk(row: Mapping[str, Any]) -> StoredChunk:
    return StoredChunk(
        id=row["id"],
        text=row["text"],
        places=tuple(map(_stored_place, row["places"])),
    )


def _stored_place(row: Mapping[str, Any]) -> StoredPlace:
    return StoredPlace(
        place=Place(path=row["path"], page=row["page"], row=row["row"]),
        record=PlacedRecord(id=row["record_id"], metadata=json.loads(row["metadata"])),
    )
