"""The cache of paid replies as a whole: what is in it, and what no index uses any more."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holodeck.errors import IndexingError
from holodeck.lib.paid_replies import REPLIES_FILE
from holodeck.lib.providers.reply_store import Kept, Pruned, ReplyStore

__all__ = ["CacheInfo", "Kept", "Pruned", "cache_info", "prune_cache"]

_RECORD = "index.meta"
_SIBLINGS = "*/*/index.meta"
"""Records of a project's indexes, from the folder that the cache's own lies in."""


@dataclass(frozen=True, kw_only=True)
class CacheInfo:
    """What a cache holds.

    Attributes:
        file: Where it is.
        file_bytes: Its size on the disk; 0: there is none yet.
        kept: What it holds, by kind and model.
        indexes: Folders of the indexes whose builds used it and that are still there.
        gone: Those that are not.
    """

    file: Path
    file_bytes: int = 0
    kept: tuple[Kept, ...] = ()
    indexes: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def cache_info(folder: Path) -> CacheInfo:
    """Return what the cache in ``folder`` holds; nothing is written."""
    file = folder / REPLIES_FILE
    may_write = os.access(folder, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))
    with _opened(file, reads_only=not may_write) as store:
        if store is None:
            return CacheInfo(file=file)
        users = sorted(store.uses.users())
        return CacheInfo(
            file=file,
            file_bytes=file.stat().st_size,
            kept=tuple(store.info().kept),
            indexes=tuple(user for user in users if _is_there(user)),
            gone=tuple(user for user in users if not _is_there(user)),
        )


def prune_cache(folder: Path, indexes: Iterable[Path]) -> Pruned:
    """Drop what no index uses that is still there; a build that was not finished counts as one.

    Args:
        folder: Of the cache.
        indexes: Folders of indexes that are known to share it; others beside it are found.

    Raises:
        IndexingError: An index does not say what it uses, so that nothing can be dropped.
    """
    with _opened(folder / REPLIES_FILE) as store:
        if store is None:
            return Pruned(entries=0, size_bytes=0)
        users = store.uses.users()
        beside = (record.parent for record in sorted(folder.parent.glob(_SIBLINGS)))
        for index in dict.fromkeys([*indexes, *beside]):
            if str(index) not in users and _pays(index):
                raise IndexingError(
                    f"the index in {index} does not say which replies it uses, so none was "
                    "dropped: build it once more with 'holodeck index --force' (what is kept "
                    "costs nothing), or delete it, and prune again"
                )
        return store.prune({user for user in users if _is_there(user)})


def _is_there(index: str) -> bool:
    return Path(index).is_dir()


def _pays(index: Path) -> bool:
    """Tell whether there is an index that was made of replies, as far as it can be known."""
    try:
        record = json.loads((index / _RECORD).read_text(encoding="utf-8"))
        return "spending" not in record or bool(record["spending"]["total"])
    except FileNotFoundError:
        return False
    except (OSError, ValueError, TypeError, KeyError):
        return True


@contextmanager
def _opened(file: Path, *, reads_only: bool = False) -> Iterator[ReplyStore | None]:
    if not file.exists():
        yield None
        return
    with ReplyStore(file, reads_only=reads_only) as store:
        yield store
