"""Leases: a reader keeps the generation that it opened from being swept.

A lease is a shared lock on a file in the generation's folder. A dead process holds none.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be deleted there, which serves the same end
    fcntl = None  # type: ignore[assignment]

__all__ = ["Lease", "is_leased"]

_LEASE_FILE = ".lease"


class Lease:
    """A shared lock, held from construction to ``release``."""

    def __init__(self, folder: Path) -> None:
        self._descriptor: int | None = os.open(folder / _LEASE_FILE, os.O_CREAT | os.O_RDWR, 0o644)
        if fcntl is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def release(self) -> None:
        """Give the lease back; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_leased(folder: Path) -> bool:
    """Tell whether a living reader holds a lease on ``folder``."""
    path = folder / _LEASE_FILE
    if fcntl is None or not path.exists():
        return False
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
