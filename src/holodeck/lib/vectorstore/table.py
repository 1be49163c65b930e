"""The chunks of one generation as a table of LanceDB: written once, read when an index is built.

The fields of a record stand at the first chunk that was cut of it and are null at the others: a
record of many chunks would be written as many times. Searches work on what is derived of the table,
so that neither LanceDB nor Arrow is imported for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck.errors import TableNotFoundError
from holodeck.lib.documents import Place
from holodeck.lib.indexes.files import mark_sizes
from holodeck.lib.indexes.text_units import PlacedRecord
from holodeck.lib.vectorstore.chunks import ChunkRows, StoredChunk, StoredPlace

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TABLE_VERSION", "has_table", "read_table", "table_mark", "write_table"]

TABLE_VERSION = 4
"""Raised when the table's columns change; part of every config hash."""

_TABLE = "chunks"
_AT_ONCE = 8_192
"""Rows that are handed over at once."""


def write_table(folder: Path, rows: ChunkRows) -> None:
    """Write the table.

    Raises:
        OSError: It could not be written; also a ``RuntimeError`` or a ``ValueError``.
    """
    import lancedb
    import pyarrow as pa

    schema = _schema(rows.vectors.shape[1])
    content = pa.RecordBatchReader.from_batches(schema, _batches(schema, rows))
    lancedb.connect(str(folder)).create_table(_TABLE, content)


def has_table(folder: Path) -> bool:
    """Tell whether there is a table; an index without chunks has none."""
    return (folder / f"{_TABLE}.lance").exists()


def table_mark(folder: Path) -> str:
    """Return what tells the table from another one, without reading it."""
    return mark_sizes(folder, folder.glob(f"{_TABLE}.lance/data/*")).decode()


def read_table(folder: Path) -> ChunkRows:
    """Read the table.

    Raises:
        TableNotFoundError: It is missing or damaged.
    """
    import lancedb
    import pyarrow as pa

    try:
        table = lancedb.connect(str(folder)).open_table(_TABLE)
        count = table.count_rows()
        batches = table.search().select(_COLUMNS).limit(count).to_batches(_AT_ONCE)
        return _rows(batches, count)
    except (OSError, RuntimeError, ValueError, KeyError, pa.ArrowException) as error:
        raise TableNotFoundError.of(
            f"the chunks in {folder} cannot be opened ({type(error).__name__}: {error})"
        ) from error


_COLUMNS = ["id", "text", "places", "vector"]


def _schema(width: int) -> pa.Schema:
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
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("places", pa.list_(place)),
            ("vector", pa.list_(pa.float32(), width)),
        ]
    )


def _batches(schema: pa.Schema, rows: ChunkRows) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    said: set[Place] = set()
    for start in range(0, len(rows.chunks), _AT_ONCE):
        chunks = rows.chunks[start : start + _AT_ONCE]
        vectors = rows.vectors[start : start + _AT_ONCE]
        columns = [
            pa.array([chunk.id for chunk in chunks], pa.string()),
            pa.array([chunk.text for chunk in chunks], pa.string()),
            pa.array([_place_rows(chunk, said) for chunk in chunks], schema.types[2]),
            pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1]),
        ]
        yield pa.record_batch(columns, schema=schema)


def _place_rows(chunk: StoredChunk, said: set[Place]) -> list[dict[str, Any]]:  # Any: Arrow's
    """Return a row for each place; ``said`` are those whose record was written, and grows."""
    rows = []
    for at in chunk.places:
        metadata = at.record.metadata if at.place not in said else None
        rows.append(
            {
                "path": at.place.path,
                "page": at.place.page,
                "row": at.place.row,
                "record_id": at.record.id,
                "metadata": json.dumps(dict(metadata), ensure_ascii=False) if metadata else None,
            }
        )
        if metadata:
            said.add(at.place)
    return rows


def _rows(batches: Any, count: int) -> ChunkRows:  # Any: Arrow ships no types
    import numpy as np

    rows: list[Mapping[str, Any]] = []
    vectors = np.zeros((0, 0), dtype=np.float32)
    for batch in batches:
        if not rows:
            vectors = np.empty((count, batch.schema.field("vector").type.list_size), np.float32)
        found = batch.column("vector").flatten().to_numpy().reshape(batch.num_rows, -1)
        vectors[len(rows) : len(rows) + batch.num_rows] = found
        rows += batch.select(["id", "text", "places"]).to_pylist()
    if len(rows) != count:
        raise ValueError(f"{len(rows):,} rows of {count:,}")
    order = sorted(range(count), key=lambda row: rows[row]["id"])
    if order != list(range(count)):
        rows, vectors = [rows[row] for row in order], vectors[order]
    return ChunkRows(chunks=_chunks(rows), vectors=vectors)


def _chunks(rows: Sequence[Mapping[str, Any]]) -> list[StoredChunk]:
    records: dict[Place, PlacedRecord] = {}
    for at in (at for row in rows for at in row["places"]):
        fields = at["metadata"]
        if fields is not None or _place(at) not in records:
            records[_place(at)] = PlacedRecord(
                id=at["record_id"], metadata=json.loads(fields or "{}")
            )
    return [
        StoredChunk(
            id=row["id"],
            text=row["text"],
            places=tuple(
                StoredPlace(place=place, record=records[place])
                for place in map(_place, row["places"])
            ),
        )
        for row in rows
    ]


def _place(at: Mapping[str, Any]) -> Place:
    return Place(path=at["path"], page=at["page"], row=at["row"])
