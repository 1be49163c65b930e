"""Replies that were paid for, kept in one SQLite file under hashes (see ``reply_keys``).

Engines keep the accepted outcome of a chain of requests; embeddings are kept by
``CachedEmbedder``. No prompt, no document's name and no key is in it, only what models returned,
of which model, and which index's builds used it.
"""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from holodeck.lib.providers.reply_keys import reply_key, vector_key
from holodeck.lib.providers.reply_uses import USES_TABLE, ReplyUses
from holodeck.lib.providers.sqlite_file import BUSY_SECONDS, DatabaseFile, at_once

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "VECTOR_KIND",
    "Kept",
    "ModelReplies",
    "Pruned",
    "ReplyStore",
    "StoreInfo",
    "noting_keys",
    "reply_key",
    "vector_key",
]

logger = logging.getLogger(__name__)

VECTOR_KIND = "embedding"
_KEYS_AT_ONCE = 500
_VERSION = 2
_ENTRIES_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    model TEXT NOT NULL DEFAULT ''
)
"""
_UPGRADES = {1: "ALTER TABLE entries ADD COLUMN model TEXT NOT NULL DEFAULT ''"}
_PUT = """
INSERT OR REPLACE INTO entries (key, kind, value, checksum, model) VALUES (?, ?, ?, ?, ?)
"""
_COUNTED = "count(*), coalesce(sum(length(value)), 0)"
_UNUSED = "FROM entries WHERE key NOT IN (SELECT key FROM uses)"
_NOTED: ContextVar[set[str] | None] = ContextVar("_NOTED", default=None)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Entries of one kind from one model; the model is empty where a former release kept them."""

    kind: str
    model: str
    entries: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class StoreInfo:
    """What a store holds.

    Attributes:
        path: Its file.
        kept: What it holds, by kind and model.
        damaged: Entries and whole files that were found damaged since the store was opened.
    """

    path: Path
    kept: Sequence[Kept]
    damaged: int

    @property
    def entries(self) -> dict[str, int]:
        """Kind → number of entries."""
        counts: dict[str, int] = {}
        for each in self.kept:
            counts[each.kind] = counts.get(each.kind, 0) + each.entries
        return counts

    @property
    def size_bytes(self) -> int:
        """Size of all values."""
        return sum(each.size_bytes for each in self.kept)


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What was dropped."""

    entries: int
    size_bytes: int


class ReplyStore:
    """Keep texts and vectors by key; safe for many threads and processes at once.

    What ``put`` was given is kept when it returns. A damaged entry is dropped, and counts as
    missing; a damaged file is moved aside. Either is warned of once and counted.

    Args:
        path: The file.
        renews: What was kept before counts as missing, so that it is asked for again and
            replaced; what this object was given is found.
        busy_seconds: How long to wait while another process writes.
        reads_only: Keep nothing, for a file that this user may only read.
    """

    def __init__(
        self,
        path: Path,
        *,
        renews: bool = False,
        busy_seconds: float = BUSY_SECONDS,
        reads_only: bool = False,
    ) -> None:
        self.path = path
        self._reads_only = reads_only
        self._given: set[str] | None = set() if renews else None
        self._file = DatabaseFile(
            path,
            schema=f"{_ENTRIES_TABLE};{USES_TABLE}",
            version=_VERSION,
            what="the reply cache",
            busy_seconds=busy_seconds,
            upgrades=_UPGRADES,
            reads_only=reads_only,
        )
        self.uses = ReplyUses(self._file)
        """Who uses what."""
        self._damaged = 0

    def check(self) -> None:
        """Find out whether replies can be kept, before any is paid for; else whether they are read.

        Raises:
            ConfigError: The file cannot be opened or written.
        """
        tried = "SELECT 1;" if self._reads_only else "BEGIN IMMEDIATE; ROLLBACK;"
        self._file.run(lambda connection: connection.executescript(tried))

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

    def put(self, key: str, value: str, kind: str, model: str = "") -> None:
        """Keep a text; ``kind`` is the step that it was paid for, ``model`` who gave it."""
        self._put([_row(key, kind, value.encode("utf-8"), model)])

    def get_vectors(self, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors that were kept, by key; missing ones are left out."""
        import numpy as np

        return {
            key: np.frombuffer(value, dtype="<f4").astype(np.float32)
            for key, value in self._values(keys).items()
        }

    def put_vectors(self, vectors: Mapping[str, NDArray[np.float32]], model: str = "") -> None:
        """Keep vectors, all or none."""
        self._put(
            [
                _row(key, VECTOR_KIND, row.astype("<f4").tobytes(), model)
                for key, row in vectors.items()
            ]
        )

    def prune(self, users: Collection[str]) -> Pruned:
        """Drop every entry that no build of these indexes used, and what others used."""

        def work(connection: sqlite3.Connection) -> Pruned:
            with at_once(connection):
                self.uses.forget_others(connection, users)
                entries, size = connection.execute(f"SELECT {_COUNTED} {_UNUSED}").fetchone()
                connection.execute(f"DELETE {_UNUSED}")
            connection.execute("VACUUM")
            return Pruned(entries=entries, size_bytes=size)

        return self._file.run(work)

    def info(self) -> StoreInfo:
        """Return what the store holds."""
        rows = self._file.run(
            lambda connection: connection.execute(
                f"SELECT kind, model, {_COUNTED} FROM entries GROUP BY kind, model "  # noqa: S608  # constants
                "ORDER BY kind, model"
            ).fetchall()
        )
        return StoreInfo(
            path=self.path,
            kept=tuple(
                Kept(kind=kind, model=model, entries=entries, size_bytes=size)
                for kind, model, entries, size in rows
            ),
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
        rows: list[tuple[str, object, int]] = []
        looked_for = keys if self._given is None else [key for key in keys if key in self._given]
        for begin in range(0, len(looked_for), _KEYS_AT_ONCE):
            rows += self._rows(looked_for[begin : begin + _KEYS_AT_ONCE])
        damaged = [key for key, value, checksum in rows if not _is_whole(value, checksum)]
        if damaged:
            self._drop(damaged)
        found = {
            key: value for key, value, _ in rows if isinstance(value, bytes) and key not in damaged
        }
        _note(found)
        self.uses.note_read(found)
        return found

    def _rows(self, keys: Sequence[str]) -> list[tuple[str, object, int]]:
        marks = ",".join("?" * len(keys))
        select = f"SELECT key, value, checksum FROM entries WHERE key IN ({marks})"  # noqa: S608  # marks only

        def work(connection: sqlite3.Connection) -> list[tuple[str, object, int]]:
            return connection.execute(select, list(keys)).fetchall()

        return self._file.run(work)

    def _put(self, rows: Sequence[tuple[str, str, bytes, int, str]]) -> None:
        if self._reads_only:
            return
        keys = [row[0] for row in rows]

        def work(connection: sqlite3.Connection) -> None:
            with at_once(connection):
                connection.executemany(_PUT, rows)
                self.uses.note_kept(connection, keys)

        self._file.run(work)
        _note(keys)
        if self._given is not None:
            self._given.update(keys)

    def _drop(self, keys: Sequence[str]) -> None:
        if not self._damaged:
            logger.warning(
                "an entry of the reply cache %s was damaged: it is dropped and will be asked for "
                "again; more of them are counted, not warned of",
                self.path,
            )
        self._damaged += len(keys)
        if self._reads_only:
            return

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM entries WHERE key = ?", [(key,) for key in keys])

        self._file.run(work)


@contextmanager
def noting_keys() -> Iterator[set[str]]:
    """Yield a set of the keys that are read and kept inside, by this task and those it begins."""
    noted: set[str] = set()
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def _note(keys: Iterable[str]) -> None:
    noted = _NOTED.get()
    if noted is not None:
        noted.update(keys)


class ModelReplies:
    """The texts of one model in a store."""

    def __init__(self, store: ReplyStore, model: str) -> None:
        self._store = store
        self._model = model

    def get(self, key: str) -> str | None:
        """Return the text that was kept under ``key``."""
        return self._store.get(key)

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep a text."""
        self._store.put(key, value, kind, self._model)


def _is_whole(value: object, checksum: int) -> bool:
    """Tell whether a value is as it was written; SQLite lets any type stand in a column."""
    return isinstance(value, bytes) and _checksum(value) == checksum


def _checksum(value: bytes) -> int:
    return zlib.crc32(value)


def _row(key: str, kind: str, value: bytes, model: str) -> tuple[str, str, bytes, int, str]:
    return key, kind, value, _checksum(value), model
