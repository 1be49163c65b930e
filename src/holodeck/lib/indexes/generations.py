"""Generations: a build writes a folder of its own, and old folders go when nobody reads them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from holodeck.lib.indexes.leases import Lease, delete_unless_leased, make_lease_file

__all__ = ["Generations", "is_generation", "lease_current"]

Record = TypeVar("Record")

_TRIES = 20


class Generations:
    """The generations of one index, in one folder or side by side in several.

    Args:
        roots: Folders that each hold a part of every generation; leases lie in the first.
    """

    def __init__(self, *roots: Path) -> None:
        self.roots = roots

    def folders(self, generation: str) -> tuple[Path, ...]:
        """Return where the parts of a generation lie."""
        return tuple(root / generation for root in self.roots)

    def new(self, current: str) -> str:
        """Return a name that no generation has or had, ``current`` being the latest committed."""
        used = [int(name) for name in (*self._names(), current) if is_generation(name)]
        return f"{max(used, default=0) + 1:06d}"

    def lease(self, generation: str) -> Lease:
        """Keep a generation from being swept until the lease is released.

        Raises:
            FileNotFoundError: It is not there, or not any more.
        """
        return Lease(self.folders(generation)[0])

    def make_lease_file(self, generation: str) -> None:
        """Make what a reader without permission to write takes its lease on."""
        make_lease_file(self.folders(generation)[0])

    def has_old(self, current: str) -> bool:
        """Tell whether there is a generation besides ``current``."""
        return any(is_generation(name) and name != current for name in self._names())

    def delete(self, generation: str) -> None:
        """Delete a generation that was never committed."""
        for folder in self.folders(generation):
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self, current: str) -> None:
        """Delete every generation but ``current`` that no reader holds, and nothing else."""
        for name in sorted(self._names()):
            if is_generation(name) and name != current:
                delete_unless_leased(*self.folders(name))

    def _names(self) -> set[str]:
        names: set[str] = set()
        for root in self.roots:
            # A folder that may not be listed is told by who reads or writes in it.
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                names |= {path.name for path in root.iterdir() if path.is_dir()}
        return names


def is_generation(name: str) -> bool:
    """Tell whether a folder of that name may be a generation of ours."""
    return name.isascii() and name.isdigit()


def lease_current(
    read: Callable[[], Record], lease: Callable[[Record], Lease]
) -> tuple[Record, Lease]:
    """Return the record and a lease on what it names; when it is replaced meanwhile, look again.

    Args:
        read: Returns the record.
        lease: Returns a lease on the generation that a record names.

    Raises:
        FileNotFoundError: What the record names is not there.
    """
    for _ in range(_TRIES):
        record = read()
        try:
            return record, lease(record)
        except FileNotFoundError:
            if read() == record:
                raise
    raise FileNotFoundError("the index was replaced each time that it was opened")
