"""Whether a folder holds an index that the graphrag library built, and not HoloDeck."""

from __future__ import annotations

from pathlib import Path

__all__ = ["OLD_PREFIX", "find_foreign_tables", "table_files"]

OLD_PREFIX = "create_final_"
"""What the names of tables began with before release 2 of the library."""

_RECORD = "index.meta"
_OUTPUT = "output"


def find_foreign_tables(storage_dir: Path) -> Path | None:
    """Return the folder of the library's tables, where ``storage_dir`` holds an index of its own.

    They lie in the folder itself or in its ``output``. What HoloDeck built has a record beside it,
    and its tables lie deeper.
    """
    if (storage_dir / _RECORD).exists():
        return None
    for folder in (storage_dir, storage_dir / _OUTPUT):
        if table_files(folder, "entities"):
            return folder
    return None


def table_files(folder: Path, table: str) -> list[Path]:
    """Return the files of a table: by today's name or the older one, one file or a folder of parts.

    An empty file is none.
    """
    name = table.removeprefix(OLD_PREFIX)
    for spelling in (name, OLD_PREFIX + name):
        file = folder / f"{spelling}.parquet"
        if file.is_file():
            if file.stat().st_size:
                return [file]
            continue
        # Some writers make a folder of that very name.
        for place in (folder / spelling, file):
            parts = sorted(place.glob("*.parquet"))
            if parts:
                return parts
    return []
