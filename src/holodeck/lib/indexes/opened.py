"""A generation that is open: its lease is given back once nobody reads it any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from holodeck.lib.indexes.leases import Lease
from holodeck.lib.indexes.record import IndexRecord

__all__ = ["OpenGeneration"]

Record = TypeVar("Record", bound=IndexRecord)
Content = TypeVar("Content")


class OpenGeneration(Generic[Record, Content]):
    """What an engine opened, and for how long it may be read.

    Args:
        record: The record that named it; replaced when it is committed anew.
        content: What the engine made of its files.
        lease: Keeps it from being swept.
        stamp: The record's file, as it was read.
    """

    def __init__(
        self, record: Record, content: Content, lease: Lease, stamp: tuple[int, int] | None
    ) -> None:
        self.record = record
        self.content = content
        self.stamp = stamp
        self._lease = lease
        self._readers = 0
        self._is_retired = False
        self._counting = threading.Lock()  # searches may run in several threads' loops

    @contextmanager
    def read(self) -> Iterator[Content]:
        """Yield the content; the generation stays on the disk meanwhile."""
        with self._counting:
            self._readers += 1
        try:
            yield self.content
        finally:
            with self._counting:
                self._readers -= 1
                self._release_if_done()

    def retire(self) -> None:
        """Give the lease back as soon as no search reads it; a second call does nothing."""
        with self._counting:
            self._is_retired = True
            self._release_if_done()

    def _release_if_done(self) -> None:
        if self._is_retired and not self._readers:
            self._lease.release()
