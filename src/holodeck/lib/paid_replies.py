"""The paid replies that builds and searches keep, and which build uses which of them."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from holodeck.errors import ConfigError
from holodeck.lib.contracts import Embedder, Memo
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.paths import check_writable
from holodeck.lib.providers.embedding_cache import CachedEmbedder
from holodeck.lib.providers.reply_store import ModelReplies, ReplyStore
from holodeck.models.llm import ModelSettings

__all__ = ["REPLIES_FILE", "PaidReplies"]

logger = logging.getLogger(__name__)

REPLIES_FILE = "replies.sqlite"
"""The file of paid replies in the cache folder."""


class PaidReplies:
    """What models returned, in one file of a folder; ``close`` releases it.

    Args:
        folder: Where they are kept; ``None`` keeps none.
        renews: What was kept before counts as missing, and is asked for again.
    """

    def __init__(self, folder: Path | None, *, renews: bool = False) -> None:
        self._folder = folder
        self._renews = renews
        self._store: ReplyStore | None = None
        self._is_out_of_reach = False

    def check(self) -> None:
        """Find out whether paid replies can be kept, before anything is paid for.

        Raises:
            ConfigError: They cannot.
        """
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # The cache may lie inside a source: it is not one of its documents.
            if not (self._folder / OWN_FOLDER_MARK).exists():
                (self._folder / OWN_FOLDER_MARK).touch()
            self._check_replies_file(self._folder / REPLIES_FILE)
            check_writable(self._folder)
        except OSError as error:
            raise ConfigError(
                f"paid replies cannot be kept in {self._folder} ({error}): free that path, "
                "set execution.cache_dir, or set execution.cache: false",
                field="execution.cache_dir",
            ) from error

    @staticmethod
    def _check_replies_file(file: Path) -> None:
        # Asked and not tried: to open and close the file takes away the locks that this process
        # holds on it, and the next write of another process destroys it.
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    @property
    def store(self) -> ReplyStore | None:
        """The store, which keeps nothing where this user may only read it; ``None``: there is none.

        A build is told beforehand by ``check``; an estimate or a search goes on.
        """
        if self._store is None and self._folder is not None and not self._is_out_of_reach:
            try:
                self.check()
            except ConfigError as error:
                logger.info("%s", error.message)
                self._store = self._only_read(self._folder / REPLIES_FILE)
            else:
                store = ReplyStore(self._folder / REPLIES_FILE, renews=self._renews)
                store.check()
                self._store = store
        return self._store

    def _only_read(self, file: Path) -> ReplyStore | None:
        try:
            if file.is_file() and os.access(file, os.R_OK):
                store = ReplyStore(file, renews=self._renews, reads_only=True)
                store.check()
                return store
        except (ConfigError, OSError) as error:
            logger.info("%s", error)
        self._is_out_of_reach = True
        return None

    def of(self, settings: ModelSettings) -> Memo | None:
        """Return the kept replies of a model; ``None`` where none are kept."""
        store = self.store
        model = f"{settings.provider}/{settings.name or ''}"
        return None if store is None else ModelReplies(store, model)

    @contextmanager
    def used_by(self, user: Path, generation: str) -> Iterator[Callable[[], int]]:
        """Note which kept replies a build uses; yields a function that says how many it took."""
        store = self.store
        if store is None:
            yield lambda: 0
        else:
            with store.uses.noted_for(str(user), generation) as taken:
                yield taken

    def keep_uses(self, user: Path, generation: str) -> None:
        """Forget which kept replies older generations of an index used."""
        if self.store is not None:
            self.store.uses.keep_only(str(user), generation)

    def note_keys(self, keys: Iterable[str]) -> None:
        """Note that a build uses kept replies which it did not read again."""
        if self.store is not None:
            self.store.uses.note(keys)

    def note_uses_of(self, generation: str) -> None:
        """Note that a build uses what another generation of its index was made of."""
        if self.store is not None:
            self.store.uses.note_all_of(generation)

    def note_vectors(self, embedder: Embedder, texts: Iterable[str]) -> None:
        """Note that a build uses the vectors of these texts, wherever it has them from."""
        if self.store is not None and isinstance(embedder, CachedEmbedder):
            self.store.uses.note(map(embedder.key_of, texts))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        store, self._store = self._store, None
        if store is not None:
            store.close()
