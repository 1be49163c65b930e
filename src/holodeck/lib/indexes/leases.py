"""Leases: a reader keeps the generation that it opened from being swept.

A lease is a shared lock on a file in the generation's folder; who deletes the folder holds the
exclusive one meanwhile. A dead process holds neither.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be deleted there, which serves the same end
    fcntl = None  # type: ignore[assignment]

__all__ = ["Lease", "NoLease", "delete_unless_leased", "is_leased", "make_lease_file"]

_LEASE_FILE = ".lease"


class Lease:
    """A shared lock, held from construction to ``release``.

    Who may not write takes it on the file that the builder made. Where that cannot even be read,
    nothing keeps the folder from being swept: see ``is_guarded``.

    Raises:
        FileNotFoundError: The folder is gone, or was deleted while the lease was asked for.
    """

    def __init__(self, folder: Path) -> None:
        self._descriptor = _open_to_share(folder)
        self.is_guarded = self._descriptor is not None
        """Whether a builder leaves the folder until the lease is released."""
        if fcntl is not None and self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)
            if os.fstat(self._descriptor).st_nlink == 0:
                self.release()
                raise FileNotFoundError(f"{folder} was deleted")

    def release(self) -> None:
        """Give the lease back; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class NoLease(Lease):
    """Of what is never swept: nothing is locked, and nothing written."""

    def __init__(self) -> None:
        self._descriptor = None


def make_lease_file(folder: Path) -> None:
    """Make what a reader without permission to write takes its lease on."""
    (folder / _LEASE_FILE).touch()


def _open_to_share(folder: Path) -> int | None:
    path = folder / _LEASE_FILE
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    except FileNotFoundError:
        raise
    except OSError:  # no permission, or a disk that can only be read
        if not folder.is_dir():
            raise
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return None


def is_leased(folder: Path) -> bool:
    """Tell whether a living reader holds a lease on ``folder``."""
    descriptor = _claim(folder)
    if descriptor is None:
        return fcntl is not None and (folder / _LEASE_FILE).exists()
    os.close(descriptor)
    return False


def delete_unless_leased(folder: Path, *others: Path) -> bool:
    """Delete ``folder``, and ``others`` that belong to it, unless a reader holds a lease.

    Returns:
        Whether it is gone now.
    """
    descriptor = _claim(folder)
    if descriptor is None and fcntl is not None and (folder / _LEASE_FILE).exists():
        return False
    try:
        # The folder goes first: a reader that was waiting for its lease then finds it deleted.
        for path in (folder, *others):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return not folder.exists()


def _claim(folder: Path) -> int | None:
    """Return a descriptor that holds the exclusive lock, or ``None`` when there is none to have."""
    if fcntl is None:
        return None
    try:
        descriptor = os.open(folder / _LEASE_FILE, os.O_RDONLY)
    except OSError:  # there is none, or it is another user's
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
