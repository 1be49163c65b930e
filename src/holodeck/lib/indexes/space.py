"""How much room there is on a disk."""

from __future__ import annotations

import shutil
from pathlib import Path

from holodeck.errors import IndexingError

__all__ = ["check_space", "free_bytes"]

_SPARE_BYTES = 20_000_000
"""For the log, the replies and whatever else writes meanwhile."""


def free_bytes(folder: Path) -> int:
    """Return how much room there is for this user on the disk of a folder."""
    return shutil.disk_usage(folder).free


def _in_megabytes(size: int) -> str:
    """Return a size as messages say it."""
    return f"{max(size, 0) / 1e6:,.0f} MB"


def check_space(root: Path, size: int, free: int, tool_name: str) -> None:
    """Find out whether a disk can take an index, before a model is asked.

    Args:
        root: Where it lies.
        size: Of the index, as it is estimated.
        free: How much room there is.
        tool_name: Whose index it is.

    Raises:
        IndexingError: There is too little room.
    """
    needed = size + _SPARE_BYTES
    if free < needed:
        raise IndexingError(
            f"the index of tool {tool_name!r} needs about {_in_megabytes(needed)} in {root}, and "
            f"{_in_megabytes(free)} are free: make room, and build again. No model was asked"
        )
