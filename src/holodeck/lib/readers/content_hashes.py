"""SHA-256 of files' contents, remembered by what the system says of each file.

Content decides, size and times only save the reading: a hash is remembered by size, times, inode
and device, and not at all while its file is so young that it may change again within one tick of
the clock.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from holodeck.lib.whole_text import replacing

__all__ = ["ContentHashes"]

logger = logging.getLogger(__name__)

_YOUNG_NS = 2_000_000_000
"""The coarsest clock of a file system in use (FAT) ticks every two seconds."""

_BLOCK = 1 << 20

_Mark = tuple[int, ...]


class ContentHashes:
    """The hashes of the files of one source.

    Args:
        path: Where they are kept; ``None`` remembers them in this process only.
        now: The time in nanoseconds.
    """

    def __init__(self, path: Path | None = None, *, now: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._now = now
        self._kept: dict[str, tuple[_Mark, str]] | None = None
        self._looked_at: dict[str, tuple[_Mark, str]] = {}

    def of(self, file: Path) -> str:
        """Return the hash of a file's bytes, which are read unless they cannot have changed.

        Raises:
            OSError: It cannot be read.
        """
        name = str(file)
        known = self._looked_at.get(name) or self._load().get(name)
        if known is not None and known[0] == _mark(file.stat()):
            self._looked_at[name] = known
            return known[1]
        begun = self._now()
        content = hashlib.sha256()
        with file.open("rb") as stream:
            status = os.fstat(stream.fileno())
            while block := stream.read(_BLOCK):
                content.update(block)
        digest = content.hexdigest()
        if max(status.st_mtime_ns, status.st_ctime_ns) + _YOUNG_NS < begun:
            self._looked_at[name] = (_mark(status), digest)
        return digest

    def forget_others(self, files: Iterable[Path]) -> None:
        """Forget every file but these."""
        names = set(map(str, files))
        self._looked_at = {name: one for name, one in self._looked_at.items() if name in names}

    def save(self) -> None:
        """Keep the hashes of the files that were looked at; what cannot be kept is read again."""
        if self._path is None or self._looked_at == self._load():
            return
        try:
            with replacing(self._path) as staged:
                staged.write_text(json.dumps(self._looked_at), encoding="ascii")
        except OSError as error:
            logger.debug("the hashes of the documents are not kept in %s: %s", self._path, error)
            return
        self._kept = dict(self._looked_at)

    def _load(self) -> dict[str, tuple[_Mark, str]]:
        if self._kept is None:
            self._kept = {} if self._path is None else _read(self._path)
        return self._kept


def _mark(status: os.stat_result) -> _Mark:
    """Return what changes when a file is written, replaced or given another time."""
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_dev,
    )


def _read(path: Path) -> dict[str, tuple[_Mark, str]]:
    try:
        content = json.loads(path.read_text(encoding="ascii"))
        return {name: (tuple(mark), str(digest)) for name, (mark, digest) in content.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        logger.debug("the hashes in %s cannot be used: %s", path, error)
        return {}
