"""Where the index of the default engine lies, and what it says of itself.

Layout below the folder of the index::

    index.meta                 the commit record: JSON, replaced last, names the generation
    generations/<generation>/  the chunks, in LanceDB, and what is derived of them for searches
    unfinished/                vectors of a build that was not published yet
    logs/                      one log a build
    .holodeck-folder           marks the folder as ours, so that it is never read as documents
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from holodeck.lib.documents import content_id
from holodeck.lib.indexes.files import DERIVED_FILE
from holodeck.lib.indexes.folder import IndexFolder
from holodeck.lib.indexes.generations import is_generation
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.vectorstore.unfinished import UnfinishedVectors
from holodeck.models.tool import VectorstoreTool

__all__ = ["VectorFolder", "VectorRecord"]


@dataclass(frozen=True, kw_only=True)
class VectorRecord(IndexRecord):
    """What an index says of itself: the content of ``index.meta``.

    Attributes:
        document_count: Distinct texts of documents.
        chunk_count: Distinct texts of chunks.
    """

    document_count: int = 0
    chunk_count: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """What the index holds."""
        return {
            **super().counts,
            "documents": self.document_count,
            "chunks": self.chunk_count,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what ``to_dict`` wrote.

        Raises:
            ValueError: A field is missing, or is not what it must be.
        """
        record = super().from_dict(data)
        if not is_generation(record.generation):
            raise ValueError("generation")
        return record


class VectorFolder(IndexFolder[VectorRecord]):
    """The folder of one tool's index.

    Args:
        tool: The tool.
        base_dir: What relative paths resolve against.
    """

    setting = "database"
    derived = (DERIVED_FILE,)

    def __init__(self, tool: VectorstoreTool, base_dir: Path) -> None:
        super().__init__(tool, base_dir, record_type=VectorRecord, parts=["generations"])
        self._unfinished = self.root / "unfinished"

    def store_folder(self, generation: str) -> Path:
        """Return where a generation's chunks lie."""
        return self.generations.folders(generation)[0]

    def tidy(self) -> None:
        """Delete what a published generation was made from and replaces, if nobody reads it."""
        shutil.rmtree(self._unfinished, ignore_errors=True)
        super().tidy()

    def has_leftovers(self) -> bool:
        """Tell whether there is something that ``tidy`` may delete."""
        return self._unfinished.exists() or super().has_leftovers()

    def unfinished(self, *model: str) -> UnfinishedVectors:
        """Return the vectors that a stopped build had made with a model."""
        return UnfinishedVectors(self._unfinished / content_id(*model))
