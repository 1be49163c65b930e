"""The commit record of an index: one JSON file that is replaced as a whole, last."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["read_record", "write_record"]

logger = logging.getLogger(__name__)

Record = TypeVar("Record")


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
        logger.warning(
            "%s is not an index record of ours (%s): it counts as no index",
            path,
            type(error).__name__,
        )
        return None


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the record in one step: a reader, or a crash, sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with staged.open("w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=2, ensure_ascii=False, sort_keys=True)
            stream.flush()
            os.fsync(stream.fileno())
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)
