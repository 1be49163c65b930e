"""The tables of an index: names, columns and types, read and written with pyarrow.

The columns are those of the library (its ``data_model/schemas.py``, 3.3), so that its own command
line reads what is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from holodeck.errors import TableNotFoundError
from holodeck.lib.foreign_tables import table_files
from holodeck.lib.graphrag.foreign import built_by

__all__ = [
    "ALWAYS",
    "OURS",
    "SCHEMAS",
    "column_names",
    "has_table",
    "read_columns",
    "read_rows",
    "write_rows",
    "write_vectors",
]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TEXT: Final = pa.string()
_NUMBER: Final = pa.int64()
_REAL: Final = pa.float64()
_IDS: Final = pa.list_(pa.string())

SCHEMAS: Mapping[str, pa.Schema] = {
    "documents": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("title", _TEXT),
            ("text", _TEXT),
            ("text_unit_ids", _IDS),
            ("creation_date", _TEXT),
            ("raw_data", _TEXT),
        ]
    ),
    "text_units": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("text", _TEXT),
            ("n_tokens", _NUMBER),
            ("document_id", _TEXT),
            ("entity_ids", _IDS),
            ("relationship_ids", _IDS),
            ("covariate_ids", _IDS),
        ]
    ),
    "entities": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("title", _TEXT),
            ("type", _TEXT),
            ("description", _TEXT),
            ("text_unit_ids", _IDS),
            ("frequency", _NUMBER),
            ("degree", _NUMBER),
        ]
    ),
    "relationships": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("source", _TEXT),
            ("target", _TEXT),
            ("description", _TEXT),
            ("weight", _REAL),
            ("combined_degree", _NUMBER),
            ("text_unit_ids", _IDS),
        ]
    ),
    "communities": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("community", _NUMBER),
            ("level", _NUMBER),
            ("parent", _NUMBER),
            ("children", pa.list_(pa.int64())),
            ("title", _TEXT),
            ("entity_ids", _IDS),
            ("relationship_ids", _IDS),
            ("text_unit_ids", _IDS),
            ("period", _TEXT),
            ("size", _NUMBER),
        ]
    ),
    "community_reports": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("community", _NUMBER),
            ("level", _NUMBER),
            ("parent", _NUMBER),
            ("children", pa.list_(pa.int64())),
            ("title", _TEXT),
            ("summary", _TEXT),
            ("full_content", _TEXT),
            ("rank", _REAL),
            ("rating_explanation", _TEXT),
            (
                "findings",
                pa.list_(pa.struct([("summary", pa.string()), ("explanation", pa.string())])),
            ),
            ("full_content_json", _TEXT),
            ("period", _TEXT),
            ("size", _NUMBER),
        ]
    ),
    # Only with claims.
    "covariates": pa.schema(
        [
            ("id", _TEXT),
            ("human_readable_id", _NUMBER),
            ("covariate_type", _TEXT),
            ("type", _TEXT),
            ("description", _TEXT),
            ("subject_id", _TEXT),
            ("object_id", _TEXT),
            ("status", _TEXT),
            ("start_date", _TEXT),
            ("end_date", _TEXT),
            ("source_text", _TEXT),
            ("text_unit_id", _TEXT),
        ]
    ),
    # Ours: every place where a text unit stands. The library's tables hold one document for each.
    "sources": pa.schema(
        [("text_unit_id", _TEXT), ("path", _TEXT), ("page", _NUMBER), ("row", _NUMBER)]
    ),
    # Ours: what else an entity was called, and which other types it was given.
    "aliases": pa.schema(
        [("entity_id", _TEXT), ("kind", _TEXT), ("value", _TEXT), ("count", _NUMBER)]
    ),
}
"""Table → its columns, in order."""

ALWAYS: Final = tuple(table for table in SCHEMAS if table != "covariates")
"""The tables that every index has."""

OURS: Final = ("sources", "aliases")
"""The tables among them that the library has no word for."""


def write_rows(folder: Path, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``rows`` as ``folder/table.parquet``; the order is kept."""
    content = pa.Table.from_pylist(list(rows), schema=SCHEMAS[table])
    pq.write_table(content, folder / f"{table}.parquet", compression="zstd")


def write_vectors(
    folder: Path, table: str, ids: Sequence[str], parts: Iterable[NDArray[np.float32]], width: int
) -> None:
    """Write a vector table of ``folder``.

    Args:
        folder: A LanceDB.
        table: Its name.
        ids: One for each vector.
        parts: The vectors in order, some at a time, so that not all need be held.
        width: Numbers in a vector.
    """
    import lancedb

    schema = pa.schema([("id", _TEXT), ("vector", pa.list_(pa.float32(), width))])

    def batches() -> Iterator[pa.RecordBatch]:
        start = 0
        for part in parts:
            end = start + len(part)
            column = pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), width)
            yield pa.record_batch([pa.array(ids[start:end], _TEXT), column], schema=schema)
            start = end

    content = pa.RecordBatchReader.from_batches(schema, batches())
    lancedb.connect(str(folder)).create_table(table, content)


def read_rows(
    folder: Path, table: str, columns: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return the rows of ``folder/table.parquet``.

    Raises:
        TableNotFoundError: The table is missing or damaged.
    """
    rows: list[dict[str, Any]] = _read(folder, table, columns).to_pylist()
    return rows


def read_columns(folder: Path, table: str, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return columns of ``folder/table.parquet``, each as a list in the order of the rows.

    Raises:
        TableNotFoundError: The table is missing or damaged, or has not these columns.
    """
    content = _read(folder, table, columns)
    return {name: content[name].to_pylist() for name in columns}


def has_table(folder: Path, table: str) -> bool:
    """Tell whether a table is there, in either spelling."""
    return bool(table_files(folder, table))


def column_names(folder: Path, table: str) -> list[str]:
    """Return the columns that a table has.

    Raises:
        TableNotFoundError: The table is missing or damaged.
    """
    names: list[str] = _read(folder, table, None).column_names
    return names


def _read(folder: Path, table: str, columns: Sequence[str] | None) -> pa.Table:
    files = table_files(folder, table) or [folder / f"{table}.parquet"]
    try:
        known = pq.read_schema(files[0]).names
        missing = [name for name in columns or () if name not in known]
        content = None if missing else pq.read_table(files, columns=list(columns or known))
    except (OSError, pa.ArrowException) as error:
        raise TableNotFoundError.of(
            f"table {table!r} cannot be read from {files[0]} ({type(error).__name__})"
        ) from error
    if content is None:
        raise TableNotFoundError.of(
            f"table {table!r} in {folder} has no column {', '.join(map(repr, missing))}: it was "
            f"built by graphrag {built_by(folder)}, and indexes of 2.x and 3.x can be read"
        )
    return content
