"""An index that the graphrag library's own command line built: read as it is, and never written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holodeck.errors import TableNotFoundError
from holodeck.lib.foreign_tables import OLD_PREFIX, find_foreign_tables, table_files

__all__ = ["ForeignIndex", "built_by", "find_foreign"]

_COUNTED = (
    "documents",
    "text_units",
    "entities",
    "relationships",
    "communities",
    "community_reports",
)


@dataclass(frozen=True, kw_only=True)
class ForeignIndex:
    """Where it lies and what it holds.

    Attributes:
        tables: Folder of the tables.
        vectors: Folder of the vectors, whether it exists or not.
        version: The release that built it, as far as its tables tell: ``3.x``.
        indexed_at: When its entities were written.
        rows: Table → number of its rows.
    """

    tables: Path
    vectors: Path
    version: str
    indexed_at: str
    rows: Mapping[str, int]

    @property
    def notice(self) -> str:
        """What whoever asks for the state of the index should know."""
        return (
            f"built by graphrag {self.version} and not by HoloDeck: it is read as it is and never "
            "updated; its embedding model has to be named as embedding_model"
        )


def find_foreign(storage_dir: Path) -> ForeignIndex | None:
    """Return the library's index in a folder that holds none of ours.

    Raises:
        TableNotFoundError: A table of it cannot be read.
    """
    tables = find_foreign_tables(storage_dir)
    if tables is None:
        return None
    places = [folder for folder in (storage_dir, tables) if any(folder.glob("lancedb/*.lance"))]
    written = max(file.stat().st_mtime for file in table_files(tables, "entities"))
    moment = datetime.fromtimestamp(written, UTC)
    return ForeignIndex(
        tables=tables,
        vectors=(places or [tables])[0] / "lancedb",
        version=built_by(tables),
        indexed_at=moment.isoformat(timespec="seconds"),
        rows={table: _rows(tables, table) for table in _COUNTED},
    )


def built_by(tables: Path) -> str:
    """Return the release of the library that wrote tables of this form, as ``2.x``."""
    files = table_files(tables, "entities")
    if files and files[0].relative_to(tables).parts[0].startswith(OLD_PREFIX):
        return "0.x" if "name" in _columns(tables, "entities") else "1.x"
    columns = _columns(tables, "text_units")
    return "2.x" if "document_ids" in columns and "document_id" not in columns else "3.x"


def _columns(tables: Path, table: str) -> list[str]:
    files = table_files(tables, table)
    return list(_open(files[0]).schema_arrow.names) if files else []


def _rows(tables: Path, table: str) -> int:
    return sum(_open(file).metadata.num_rows for file in table_files(tables, table))


def _open(file: Path) -> Any:  # Any: pyarrow ships no types
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except (OSError, pa.ArrowException) as error:
        raise TableNotFoundError(
            f"the table {file} cannot be read ({type(error).__name__}): build that index again "
            "with the graphrag library, or set another graphrag.storage_dir"
        ) from error
