"""How much room there is on a disk."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["free_bytes", "in_megabytes"]


def free_bytes(folder: Path) -> int:
    """Return how much room there is for this user on the disk of a folder."""
    return shutil.disk_usage(folder).free


def in_megabytes(size: int) -> str:
    """Return a size as messages say it."""
    return f"{max(size, 0) / 1e6:,.0f} MB"
