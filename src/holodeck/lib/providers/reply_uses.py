"""Which entries of the reply store the builds of which index use, in the store's own file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

from holodeck.lib.providers.sqlite_file import DatabaseFile, at_once

__all__ = ["USES_TABLE", "ReplyUses"]

USES_TABLE = """
CREATE TABLE IF NOT EXISTS uses (
    user TEXT NOT NULL,
    generation TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (user, generation, key)
) WITHOUT ROWID
"""

_NO_KEY = ""
"""What a build uses that uses nothing: its index is known all the same."""
_NOTED_AT_ONCE = 500
_USE = "INSERT OR IGNORE INTO uses (user, generation, key) VALUES (?, ?, ?)"


class ReplyUses:
    """Notes what one build at a time reads and keeps; safe for many threads.

    Args:
        file: The store's file, with ``USES_TABLE`` in it.
    """

    def __init__(self, file: DatabaseFile) -> None:
        self._file = file
        self._user: tuple[str, str] | None = None
        self._read: set[str] = set()  # by the user, and not noted in the file yet
        self._found: set[str] = set()  # by the user
        self._kept: set[str] = set()
        self._noting = threading.Lock()

    @contextmanager
    def noted_for(self, user: str, generation: str) -> Iterator[Callable[[], int]]:
        """Note what is read and kept meanwhile as used by a generation of an index.

        Yields a function that says how many entries were used and not kept meanwhile.

        Args:
            user: Folder of the index.
            generation: That is built; what an earlier try at it used is forgotten.
        """

        def begin(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM uses WHERE user = ? AND generation = ?", (user, generation)
            )
            connection.execute(_USE, (user, generation, _NO_KEY))

        self._file.run(begin)
        self._user, self._found, self._kept = (user, generation), set(), set()

        try:
            yield lambda: len(self._found - self._kept)
        finally:
            self._write()
            self._user = None

    def note(self, keys: Iterable[str]) -> None:
        """Note entries that are used without being read."""
        if self._user is not None:
            self._add(keys)
            self._write()

    def note_all_of(self, generation: str) -> None:
        """Note everything that another generation of the same index uses as used by this one."""
        if self._user is None:
            return
        select = "SELECT key FROM uses WHERE user = ? AND generation = ? AND key <> ?"
        whose = (self._user[0], generation, _NO_KEY)
        rows = self._file.run(lambda connection: connection.execute(select, whose).fetchall())
        self.note(key for (key,) in rows)

    def note_read(self, keys: Iterable[str]) -> None:
        """Note entries that were read; written down by the hundred."""
        if self._user is not None:
            self._add(keys)
            if len(self._read) >= _NOTED_AT_ONCE:
                self._write()

    def note_kept(self, connection: sqlite3.Connection, keys: Collection[str]) -> None:
        """Note entries that are being kept, in the transaction that keeps them."""
        if self._user is not None:
            connection.executemany(_USE, [(*self._user, key) for key in keys])
            self._kept.update(keys)

    def keep_only(self, user: str, generation: str) -> None:
        """Forget what other generations of an index used: this one was published."""
        self._file.run(
            lambda connection: connection.execute(
                "DELETE FROM uses WHERE user = ? AND generation <> ?", (user, generation)
            )
        )

    def users(self) -> set[str]:
        """Return the folders of the indexes that are known to use entries."""
        return self._file.run(_users)

    def forget_others(self, connection: sqlite3.Connection, users: Collection[str]) -> None:
        """Forget what all but these indexes used."""
        gone = [(user,) for user in _users(connection) - set(users)]
        connection.executemany("DELETE FROM uses WHERE user = ?", gone)

    def _add(self, keys: Iterable[str]) -> None:
        used = set(keys)
        with self._noting:
            self._read |= used
            self._found |= used

    def _write(self) -> None:
        with self._noting:
            read, self._read = self._read, set()
        if self._user is None or not read:
            return
        rows = [(*self._user, key) for key in sorted(read)]

        def work(connection: sqlite3.Connection) -> None:
            with at_once(connection):
                connection.executemany(_USE, rows)

        self._file.run(work)


def _users(connection: sqlite3.Connection) -> set[str]:
    return {user for (user,) in connection.execute("SELECT DISTINCT user FROM uses")}
