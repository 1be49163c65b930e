"""One SQLite file that many threads and processes share, and that damage cannot stop."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from holodeck.errors import ConfigError

__all__ = ["BUSY_SECONDS", "DatabaseFile", "at_once"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

BUSY_SECONDS = 60.0
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class DatabaseFile:
    """Runs work on the database, one at a time in this process, others' writes waited for.

    A commit is on its way to the disk when ``run`` returns: it survives the death of the process
    at any moment; a power failure may take the last ones, but never the file.

    A file that is damaged is moved aside, with a warning, and a new one begun.

    Args:
        path: The file; made, with its folders, when it is first used, readable by its owner only.
        schema: SQL that makes the tables where they are not.
        version: Of the schema.
        what: The file's name in messages.
        busy_seconds: How long to wait while another process writes.
        upgrades: Version → SQL that makes the next one of it; each older version needs a row.
        reads_only: Write nothing, for a file that this user may only read.
    """

    def __init__(
        self,
        path: Path,
        *,
        schema: str,
        version: int,
        what: str,
        busy_seconds: float = BUSY_SECONDS,
        upgrades: Mapping[int, str] | None = None,
        reads_only: bool = False,
    ) -> None:
        self.path = path
        self.moved_aside: list[Path] = []
        self._schema = schema
        self._version = version
        self._what = what
        self._busy_seconds = busy_seconds
        self._upgrades = dict(upgrades or {})
        self._reads_only = reads_only
        self._inherited: list[sqlite3.Connection] = []
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``work`` makes of the connection, which commits each statement.

        Raises:
            ConfigError: The file cannot be opened or written.
        """
        if self._process != os.getpid():
            # A connection must not be used, nor closed, on the other side of a fork.
            self._inherited += [self._connection] if self._connection else []
            self._begin()
        with self._lock:
            try:
                return work(self._opened())
            except sqlite3.DatabaseError as error:
                if self._reads_only or _kind_of(error) not in _DAMAGE:
                    raise self._unusable(error) from error
                self._move_aside()
            try:
                return work(self._opened())
            except sqlite3.DatabaseError as error:
                raise self._unusable(error) from error

    def close(self) -> None:
        """Close the file; the next ``run`` opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._closer.detach()
                self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._reads_only:
                self._connection = self._open_to_read()
            else:
                with self._guard():
                    self._connection = self._open()
            # Who forgets to close the file, say after an error, leaves no connection behind.
            self._closer = weakref.finalize(self, _close, self._connection, self._process)
        return self._connection

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Keep others from opening or moving the file meanwhile."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=self._busy_seconds):
                yield
        except OSError as error:
            raise self._unusable(error) from error

    def _open(self) -> sqlite3.Connection:
        # Only a file that is not there yet: closing a descriptor takes away the locks that this
        # process' other connections hold on the file (sqlite.org/howtocorrupt.html, 2.2).
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        self._inode = self.path.stat().st_ino
        connection = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        # Without a log of what is being written SQLite would have to make one.
        is_at_rest = not Path(f"{self.path}-wal").exists()
        address = f"{self.path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_at_rest else ''}"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        except BaseException:
            connection.close()
            raise
        if version != self._version:
            connection.close()
            raise ConfigError(
                f"{self._what} {self.path} was written by another release, and may only be read: "
                "use it once where it may be written, or name another folder in "
                "execution.cache_dir"
            )
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > self._version:
            raise ConfigError(
                f"{self._what} {self.path} was written by a newer release: upgrade holodeck, or "
                "name another folder in execution.cache_dir"
            )
        # Another process may upgrade it at the same moment: read again under the lock of writers.
        connection.execute("BEGIN IMMEDIATE")
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            for older in range(version or self._version, self._version):
                connection.execute(self._upgrades[older])
            for statement in self._schema.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._version}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _move_aside(self) -> None:
        self.close()
        with self._guard():
            if not self.path.exists() or self.path.stat().st_ino != self._inode:
                return  # another process has already begun a new one
            aside = self._free_name()
            self.path.rename(aside)
            for suffix in ("-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self.moved_aside.append(aside)
        logger.warning(
            "%s %s was damaged: it was moved to %s and a new one begun; what was in it will be "
            "paid for again",
            self._what,
            self.path,
            aside.name,
        )

    def _free_name(self) -> Path:
        number = 1
        while (aside := Path(f"{self.path}.damaged-{number}")).exists():
            number += 1
        return aside

    def _unusable(self, error: Exception) -> ConfigError:
        if isinstance(error, Timeout) or _kind_of(error) in _HELD:
            return ConfigError(
                f"{self._what} {self.path} has been held by another process for "
                f"{self._busy_seconds:g} s: let that one end and run again, or name another folder "
                "in execution.cache_dir"
            )
        return ConfigError(
            f"{self._what} {self.path} cannot be used ({error}): make it writable and the disk "
            "not full, name another folder in execution.cache_dir, or set execution.cache: false"
        )


def _close(connection: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():  # not on the other side of a fork
        connection.close()


def _kind_of(error: Exception) -> int:
    # The low byte is the kind of error, the others its detail.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


@contextmanager
def at_once(connection: sqlite3.Connection) -> Iterator[None]:
    """Make what is done inside one transaction: all of it or nothing, and one write for many."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
