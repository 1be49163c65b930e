"""The commit record of an index: what it says of itself, in one JSON file replaced as a whole."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import TypeAdapter

from holodeck.lib.contracts import BuildAccount, Spending
from holodeck.lib.indexes.files import FileMark
from holodeck.lib.indexes.set_aside import set_aside
from holodeck.lib.whole_text import replacing

__all__ = ["IndexRecord", "read_record", "write_record"]

logger = logging.getLogger(__name__)

Record = TypeVar("Record")


@dataclass(frozen=True, kw_only=True)
class IndexRecord:
    """What every index says of itself, whatever its engine.

    Attributes:
        source_hash: SHA-256 over relative path and bytes of the files that are indexed.
        indexed_at: UTC, ISO 8601, with offset.
        file_count: Files that the documents came from.
        config_hash: SHA-256 over ``settings``.
        settings: Each setting that shapes the index, by its YAML name.
        generation: The name of the generation that holds the index.
        vector_size: Numbers in a vector; 0 where there are none.
        files: Every file of the generation, by its path below the index's folder; empty where
            another program built it.
        skipped: Files that are not in the index, by relative path, and why.
        warnings: What the builder of the index should know.
        account: What became of every piece of the build; ``None``: there are no pieces.
        spending: What the build cost, and all builds up to it.
    """

    tool_name: str
    source_path: str
    source_hash: str
    indexed_at: str
    file_count: int
    config_hash: str = ""
    generation: str = ""
    vector_size: int = 0
    files: Mapping[str, FileMark] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    account: BuildAccount | None = None
    spending: Spending = field(default_factory=Spending)

    @property
    def counts(self) -> dict[str, int]:
        """What the index holds."""
        return {"files": self.file_count}

    def to_dict(self) -> dict[str, Any]:  # Any: JSON
        """Return the fields as JSON types."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what ``to_dict`` wrote; keys of a later version are left aside.

        Raises:
            ValueError: A field is missing, or is not what it must be.
        """
        record: Self = cls._reader().validate_python(data)
        return record

    @classmethod
    @cache
    def _reader(cls) -> TypeAdapter[Any]:  # Any: Self
        return TypeAdapter(cls)


def read_record(path: Path, parse: Callable[[Mapping[str, Any]], Record]) -> Record | None:
    """Return what the record says; ``None`` without one, with a warning when it is damaged.

    Args:
        path: The file.
        parse: Makes the record of the JSON; raises what it likes for content that is not ours.
    """
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        _warn_of_damage(path, _changed_at(path), type(error).__name__)
        return None


@lru_cache(maxsize=64)
def _warn_of_damage(path: Path, changed_at: int | None, why: str) -> None:
    """Say it once for each state of the file: a command reads a record again and again."""
    logger.warning("%s is not an index record of ours (%s): it counts as no index", path, why)


def _changed_at(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the record in one step: a reader, or a crash, sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as staged:
        with staged.open("w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=2, ensure_ascii=False, sort_keys=True)
            stream.flush()
            os.fsync(stream.fileno())
        if path.is_dir():
            set_aside(path)
