"""Replies that were paid for, kept in one SQLite file under hashes (see ``reply_keys``).

Engines keep the accepted outcome of a chain of requests; embeddings are kept by
``CachedEmbedder``. No prompt, no document's name and no key is in it, only what models returned.
"""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from holodeck.lib.providers.reply_keys import reply_key, vector_key
from holodeck.lib.providers.sqlite_file import BUSY_SECONDS, DatabaseFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["VECTOR_KIND", "ReplyStore", "StoreInfo", "reply_key", "vector_key"]

logger = logging.getLogger(__name__)

VECTOR_KIND = "embedding"
_KEYS_AT_ONCE = 500
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL
)
"""
_PUT = "INSERT OR REPLACE INTO entries (key, kind, value, checksum) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True, kw_only=True)
class StoreInfo:
    """What a store holds.

    Attributes:
        path: Its file.
        entries: Kind → number of entries.
        size_bytes: Of all values.
        damaged: Entries and whole files that were found damaged since the store was opened.
    """

    path: Path
    entries: Mapping[str, int]
    size_bytes: int
    damaged: int


class ReplyStore:
    """Keep texts and vectors by key; safe for many threads and processes at once.

    What ``put`` was given is kept when it returns. A damaged entry is dropped, and counts as
    missing; a damaged file is moved aside. Either is warned of once and counted.

    Args:
        path: The file.
        renews: What was kept before counts as missing, so that it is asked for again and
            replaced; what this object was given is found.
        busy_seconds: How long to wait while another process writes.
    """

    def __init__(
        self, path: Path, *, renews: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.path = path
        self._given: set[str] | None = set() if renews else None
        self._file = DatabaseFile(
            path,
            schema=_SCHEMA,
            version=_VERSION,
            what="the reply cache",
            busy_seconds=busy_seconds,
        )
        self._damaged = 0

    def check(self) -> None:
        """Find out whether replies can be kept, before any is paid for.

        Raises:
            ConfigError: The file cannot be opened or written.
        """
        self._file.run(lambda connection: connection.executescript("BEGIN IMMEDIATE; ROLLBACK;"))

    def get(self, key: str) -> str | None:
        """Return the text that was kept under ``key``."""
        found = self._values([key]).get(key)
        if found is None:
            return None
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError:
            self._drop([key])
            return None

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep a text; ``kind`` is the step that it was paid for."""
        self._put([_row(key, kind, value.encode("utf-8"))])

    def get_vectors(self, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors that were kept, by key; missing ones are left out."""
        import numpy as np

        return {
            key: np.frombuffer(value, dtype="<f4").astype(np.float32)
            for key, value in self._values(keys).items()
        }

    def put_vectors(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep vectors, all or none."""
        self._put(
            [_row(key, VECTOR_KIND, row.astype("<f4").tobytes()) for key, row in vectors.items()]
        )

    def prune(self, keep: Collection[str]) -> int:
        """Drop every entry whose key is not in ``keep``; return how many there were."""

        def work(connection: sqlite3.Connection) -> int:
            connection.execute("CREATE TEMP TABLE keep (key TEXT PRIMARY KEY)")
            try:
                rows = ((key,) for key in set(keep))
                connection.executemany("INSERT INTO keep VALUES (?)", rows)
                dropped = connection.execute(
                    "DELETE FROM entries WHERE key NOT IN (SELECT key FROM keep)"
                ).rowcount
            finally:
                connection.execute("DROP TABLE keep")
            connection.execute("VACUUM")
            return dropped

        return self._file.run(work)

    def info(self) -> StoreInfo:
        """Return what the store holds."""

        def work(connection: sqlite3.Connection) -> list[tuple[str, int, int]]:
            return connection.execute(
                "SELECT kind, count(*), sum(length(value)) FROM entries GROUP BY kind ORDER BY kind"
            ).fetchall()

        rows = self._file.run(work)
        return StoreInfo(
            path=self.path,
            entries={kind: count for kind, count, _ in rows},
            size_bytes=sum(size for _, _, size in rows),
            damaged=self._damaged + len(self._file.moved_aside),
        )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _values(self, keys: Sequence[str]) -> dict[str, bytes]:
        rows: list[tuple[str, bytes, int]] = []
        looked_for = keys if self._given is None else [key for key in keys if key in self._given]
        for begin in range(0, len(looked_for), _KEYS_AT_ONCE):
            rows += self._rows(looked_for[begin : begin + _KEYS_AT_ONCE])
        damaged = [key for key, value, checksum in rows if _checksum(value) != checksum]
        if damaged:
            self._drop(damaged)
        return {key: value for key, value, _ in rows if key not in damaged}

    def _rows(self, keys: Sequence[str]) -> list[tuple[str, bytes, int]]:
        marks = ",".join("?" * len(keys))
        select = f"SELECT key, value, checksum FROM entries WHERE key IN ({marks})"  # noqa: S608  # marks only

        def work(connection: sqlite3.Connection) -> list[tuple[str, bytes, int]]:
            return connection.execute(select, list(keys)).fetchall()

        return self._file.run(work)

    def _put(self, rows: Sequence[tuple[str, str, bytes, int]]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(_PUT, rows)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

        self._file.run(work)
        if self._given is not None:
            self._given.update(key for key, *_ in rows)

    def _drop(self, keys: Sequence[str]) -> None:
        if not self._damaged:
            logger.warning(
                "an entry of the reply cache %s was damaged: it is dropped and will be asked for "
                "again; more of them are counted, not warned of",
                self.path,
            )
        self._damaged += len(keys)

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM entries WHERE key = ?", [(key,) for key in keys])

        self._file.run(work)


def _checksum(value: bytes) -> int:
    return zlib.crc32(value)


def _row(key: str, kind: str, value: bytes) -> tuple[str, str, bytes, int]:
    return key, kind, value, _checksum(value)
