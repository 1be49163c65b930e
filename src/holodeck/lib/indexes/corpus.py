"""What a build starts from: the documents as they were read, and for which generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holodeck.lib.contracts import RetryFailed
from holodeck.lib.indexes.settings import config_hash
from holodeck.lib.indexes.text_units import Prepared
from holodeck.lib.readers.source import SourceReading

__all__ = ["Corpus"]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The documents of one build.

    Attributes:
        tool_name: Whose index is built.
        source: Where the documents are.
        reading: What was read of them, and what was skipped.
        prepared: Their distinct texts.
        settings: What shapes the index.
        generation: The generation that is built.
        force: Whether a rebuild was asked for.
        retry_failed: Which pieces that failed in the last build are asked for again.
        vector_width: Of the embedding model's vectors, where a server was asked for it.
        held_in: The published generation, where it holds these texts and no others.
    """

    tool_name: str
    source: Path
    reading: SourceReading
    prepared: Prepared
    settings: Mapping[str, str]
    generation: str
    force: bool = False
    retry_failed: RetryFailed = False
    vector_width: int | None = None
    held_in: str | None = None

    @property
    def needs_models(self) -> bool:
        """Whether there is a text that is not in the index yet, or one less."""
        return bool(self.prepared.text_units) and self.held_in is None

    @property
    def warnings(self) -> list[str]:
        """What readers had to tolerate, and that nothing was read where that is so."""
        if self.prepared.text_units:
            return list(self.reading.notes)
        return [*self.reading.notes, "no file of the source gave any text: the index is empty"]

    @property
    def text_bytes(self) -> int:
        """Size of the texts."""
        return sum(len(unit.text.encode("utf-8", "replace")) for unit in self.prepared.text_units)

    def record_fields(self) -> dict[str, Any]:  # Any: fields of an IndexRecord
        """Return what every record says of the documents and settings."""
        return {
            "tool_name": self.tool_name,
            "source_path": str(self.source),
            "source_hash": self.reading.source_hash,
            "indexed_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "file_count": len(self.reading.files),
            "config_hash": config_hash(self.settings),
            "settings": dict(self.settings),
            "generation": self.generation,
            "skipped": {item.path: item.reason for item in self.reading.skipped},
        }
