"""What is indexed, and why it must be indexed again."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from holodeck.errors import SourceNotFoundError, TableNotFoundError
from holodeck.lib.contracts import RetryFailed
from holodeck.lib.indexes.folder import DAMAGED, IndexFolder
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.indexes.settings import changed_settings, config_hash, differ_by_release_alone
from holodeck.lib.quantities import number_of
from holodeck.lib.readers.content_hashes import ContentHashes
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.survey import Survey, survey
from holodeck.lib.readers.time_limit import has_more_time
from holodeck.lib.resources import ResolvedTool
from holodeck.models.config import ExecutionConfig

__all__ = ["DOCUMENTS_CHANGED", "SKIPPED_CHANGED", "IndexState"]

HASHES_FILE = "documents.json"
"""The hashes of the documents, which a file that did not change is not read for again."""

DOCUMENTS_CHANGED = "the documents changed"
SKIPPED_CHANGED = "other files are skipped"
"""The index holds what it must; only what it says of files that are not in it is old."""

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
        found = survey(source, options, hashes=self._hashes)
        self._hashes.save()
        if found.source_hash != record.source_hash:
            return DOCUMENTS_CHANGED
        skipped = _skipped_now(record, found)
        if options.strict and skipped:
            return f"strict is set, and {number_of(len(skipped), 'files')} cannot be read"
        if any(has_more_time(reason, options.file_timeout) for reason in skipped.values()):
            return "execution.file_timeout changed, and a file was skipped for its time"
        piece = self.stale_piece(record, retry_failed)
        return SKIPPED_CHANGED if piece is None and skipped != record.skipped else piece

    def note_skipped(self, source: Path) -> Record:
        """Say what is skipped now, in the record of an index whose documents are as they were."""
        record = self._folder.published()
        found = survey(source, read_options(self._tool, self._execution), hashes=self._hashes)
        noted = replace(record, skipped=_skipped_now(record, found))
        self._folder.commit(noted)
        return noted

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
        of_release = differ_by_release_alone(record.settings, settings)
        what = "another release made it" if of_release else "settings changed"
        return f"{what} ({'; '.join(changes)})"

    def _indexed_width(self) -> int:
        """Return the width of the vectors that the same embedding model made for the index."""
        record, settings = self._folder.record(), self.shaping_settings()
        if record is None:
            return 0
        is_same = all(
            record.settings.get(name) == settings.get(name) for name in self.embedding_settings
        )
        return record.vector_size if is_same else 0


def _skipped_now(record: IndexRecord, found: Survey) -> dict[str, str]:
    """Return what is skipped of a source whose readable files are those of the record, and why."""
    tried = {file.path for file, _ in found.readable}
    unread = {path: reason for path, reason in record.skipped.items() if path in tried}
    return unread | {item.path: item.reason for item in found.skipped}
