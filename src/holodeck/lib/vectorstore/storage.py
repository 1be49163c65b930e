"""Where the index of the default engine lies, and what it says of itself.

Layout below the folder of the index::

    index.meta                 the commit record: JSON, replaced last, names the generation
    generations/<generation>/  the chunks, in LanceDB
    unfinished/                vectors of a build that was not published yet
    .holodeck-folder           marks the folder as ours, so that it is never read as documents
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from holodeck.errors import ConfigError
from holodeck.lib.documents import OWN_FOLDER_MARK, content_id
from holodeck.lib.indexes.generations import Generations
from holodeck.lib.indexes.leases import Lease
from holodeck.lib.indexes.record import read_record, write_record
from holodeck.lib.paths import resolve_storage_dir
from holodeck.lib.vectorstore.unfinished import UnfinishedVectors
from holodeck.models.tool import VectorstoreTool

__all__ = ["IndexFolder", "IndexRecord"]


@dataclass(frozen=True, kw_only=True)
class IndexRecord:
    """What an index says of itself: the content of ``index.meta``.

    Attributes:
        source_hash: SHA-256 over relative path and bytes of the files that are indexed.
        indexed_at: UTC, ISO 8601, with offset.
        config_hash: SHA-256 over ``settings``.
        settings: Each setting that shapes the index, by its YAML name.
        generation: Folder name below ``generations/``.
        file_count: Files that the documents came from.
        document_count: Distinct texts of documents.
        chunk_count: Distinct texts of chunks.
        vector_size: Numbers in a vector; 0 for an empty index.
        skipped: Files that are not in the index, by relative path, and why.
        warnings: What the builder of the index should know.
    """

    tool_name: str
    source_path: str
    source_hash: str
    indexed_at: str
    config_hash: str
    generation: str
    settings: Mapping[str, str] = field(default_factory=dict)
    file_count: int = 0
    document_count: int = 0
    chunk_count: int = 0
    vector_size: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """What the index holds."""
        return {
            "files": self.file_count,
            "documents": self.document_count,
            "chunks": self.chunk_count,
        }

    def to_dict(self) -> dict[str, Any]:  # Any: JSON
        """Return the fields as JSON types."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> IndexRecord:
        """Read what ``to_dict`` wrote; keys of a later version are left aside.

        Raises:
            TypeError: A field is missing, or is not what it must be.
        """
        known = {item.name for item in fields(cls)}
        content = {key: value for key, value in data.items() if key in known}
        content["warnings"] = tuple(content.get("warnings", ()))
        record = cls(**content)
        if not (isinstance(record.generation, str) and record.generation.isdigit()):
            raise TypeError("generation")
        if not (isinstance(record.settings, dict) and isinstance(record.skipped, dict)):
            raise TypeError("settings")
        return record


class IndexFolder:
    """The folder of one tool's index.

    Args:
        tool: The tool.
        base_dir: What relative paths resolve against.
    """

    def __init__(self, tool: VectorstoreTool, base_dir: Path) -> None:
        self._tool_name = tool.name
        self.root = resolve_storage_dir(tool, base_dir)
        self.generations = Generations(self.root / "generations")
        self._unfinished = self.root / "unfinished"

    @property
    def record_path(self) -> Path:
        """The commit record."""
        return self.root / "index.meta"

    @property
    def lock_path(self) -> Path:
        """The file that the one builder holds a lock on."""
        return self.root / ".lock"

    def create(self) -> None:
        """Create the folder and mark it as ours.

        Raises:
            ConfigError: Something that is not a folder is in the way, or it cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            (self.root / OWN_FOLDER_MARK).touch()
        except OSError as error:
            raise ConfigError(
                f"the index of tool {self._tool_name!r} cannot be kept in {self.root}: "
                f"{error.strerror or error} ({error.filename}); free that path"
            ) from error

    def record(self) -> IndexRecord | None:
        """Return the commit record, or ``None`` (with a warning when it is damaged)."""
        return read_record(self.record_path, IndexRecord.from_dict)

    def store_folder(self, generation: str) -> Path:
        """Return where a generation's chunks lie."""
        return self.generations.folders(generation)[0]

    def new_generation(self) -> str:
        """Return a name that no generation has."""
        record = self.record()
        return self.generations.new(record.generation if record else "")

    def lease(self, record: IndexRecord) -> Lease:
        """Keep what a record names from being swept until the lease is released."""
        return self.generations.lease(record.generation)

    def commit(self, record: IndexRecord) -> None:
        """Publish a generation: from here on it is the index."""
        write_record(self.record_path, record.to_dict())

    def tidy(self, record: IndexRecord) -> None:
        """Delete what a published generation was made from and replaces, if nobody reads it."""
        shutil.rmtree(self._unfinished, ignore_errors=True)
        self.generations.sweep(record.generation)

    def unfinished(self, *model: str) -> UnfinishedVectors:
        """Return the vectors that a stopped build had made with a model."""
        return UnfinishedVectors(self._unfinished / content_id(*model))
