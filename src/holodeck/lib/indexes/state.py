"""What is indexed, and why it must be indexed again."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from holodeck.errors import SourceNotFoundError, TableNotFoundError
from holodeck.lib.contracts import RetryFailed
from holodeck.lib.indexes.folder import DAMAGED, IndexFolder
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.indexes.settings import changed_settings, config_hash
from holodeck.lib.readers.content_hashes import ContentHashes
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.source import source_hash
from holodeck.lib.resources import ResolvedTool
from holodeck.models.config import ExecutionConfig

__all__ = ["DOCUMENTS_CHANGED", "IndexState"]

HASHES_FILE = "documents.json"
"""The hashes of the documents, which a file that did not change is not read for again."""

DOCUMENTS_CHANGED = "the documents changed"

Record = TypeVar("Record", bound=IndexRecord)


class IndexState(ABC, Generic[Record]):
    """The state of one tool's index.

    Args:
        resolved: The tool, its models filled in.
        folder: Where its index lies.
        execution: How documents are read.
    """

    def __init__(
        self, resolved: ResolvedTool, folder: IndexFolder[Record], execution: ExecutionConfig
    ) -> None:
        self._resolved = resolved
        self._tool = resolved.tool
        self._folder = folder
        self._execution = execution
        self._damage: dict[str, str] = {}  # generation → what kept it from being opened
        self._hashes = ContentHashes(folder.root / HASHES_FILE)

    # --- what an engine says ------------------------------------------------------------------

    embedding_settings: ClassVar[tuple[str, ...]]
    """The names of the settings that say which model embeds."""

    @abstractmethod
    def shaping_settings(self) -> Mapping[str, str]:
        """Return every setting and version that shapes the index, by its YAML name."""

    def foreign_version(self, record: Record) -> str | None:
        """Return what built an index that what is installed would build differently."""
        return None

    def stale_piece(self, record: Record, retry_failed: RetryFailed) -> str | None:
        """Return why an index must be built whose documents and settings are those of before."""
        return None

    def is_given(self, force: bool = False) -> bool:
        """Tell whether the index is what it is: no document is looked at, and nothing builds it.

        Raises:
            ConfigError: ``force``, and it is.
        """
        return False

    # --- what follows from it -----------------------------------------------------------------

    async def find_source(self, source_path: Path) -> Path:
        """Return where the documents are.

        Raises:
            SourceNotFoundError: Also a ``FileNotFoundError``.
        """
        source = Path(source_path)
        if not self.is_given() and not await asyncio.to_thread(source.exists):
            raise SourceNotFoundError(
                f"Source path not found: {source}. Create it, or set 'source' of tool "
                f"{self._tool.name!r}"
            )
        return source

    def stale_reason(
        self, source: Path, force: bool = False, retry_failed: RetryFailed = False
    ) -> str | None:
        """Return why the index must be built, or ``None`` when it is up to date."""
        if self.is_given():
            return None
        if force:
            return "a rebuild was asked for"
        record = self._folder.record()
        if record is None:
            return self._folder.no_record_reason()
        other = self.foreign_version(record) or self._changed_settings(record)
        if other is not None:
            return other
        damage = self._damage.get(record.generation) or self._folder.damage(record)
        if damage is not None:
            return f"{DAMAGED}{damage}"
        options = read_options(self._tool, self._execution)
        now = source_hash(source, options, hashes=self._hashes)
        self._hashes.save()
        if now != record.source_hash:
            return DOCUMENTS_CHANGED
        return self.stale_piece(record, retry_failed)

    def note_damage(self, error: TableNotFoundError) -> None:
        """Remember that the index could not be opened, so that the next build mends it."""
        self._damage[self._folder.published().generation] = error.damage or str(error)

    def _changed_settings(self, record: Record) -> str | None:
        settings = self.shaping_settings()
        if record.config_hash == config_hash(settings):
            return None
        changes = changed_settings(record.settings, settings)
        if not changes:
            return "the config_hash of the index is not that of its settings"
        return f"settings changed ({'; '.join(changes)})"

    def _indexed_width(self) -> int:
        """Return the width of the vectors that the same embedding model made for the index."""
        record, settings = self._folder.record(), self.shaping_settings()
        if record is None:
            return 0
        is_same = all(
            record.settings.get(name) == settings.get(name) for name in self.embedding_settings
        )
        return record.vector_size if is_same else 0
