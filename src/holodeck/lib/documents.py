"""Documents and chunks: what readers make and engines take."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["OWN_FOLDER_MARK", "Chunk", "Document", "Place", "SkippedFile", "content_id"]

OWN_FOLDER_MARK = ".holodeck-folder"
"""A file of this name marks a folder as HoloDeck's own: it is never read as documents."""


def content_id(*parts: str) -> str:
    """Return the id of a content: 128 bits of SHA-256 over its parts, as 32 hex digits.

    The same parts give the same id on every machine and in every build; ``("ab", "c")`` and
    ``("a", "bc")`` differ.
    """
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    content = b"".join(b"%d:%b" % (len(part), part) for part in encoded)
    return hashlib.sha256(content).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True, order=True)
class Place:
    """Where a text stands: a file and, for a PDF or a table, the page or the record in it.

    Attributes:
        path: Relative to the source root, with ``/`` on every system.
        page: 1-based page of a paged document, slide of a presentation, or, with ``row``, sheet of
            a workbook that has several.
        row: 1-based record of a table or of a list, its header not counted.
    """

    path: str
    page: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        if self.page is not None and self.row is not None:
            return f"{self.path}, sheet {self.page}, row {self.row}"
        if self.page is not None:
            return f"{self.path}, page {self.page}"
        if self.row is not None:
            return f"{self.path}, row {self.row}"
        return self.path


@dataclass(frozen=True, kw_only=True)
class Document:
    """One readable unit of a file: the whole of it, a page of a PDF, a record of a table.

    Attributes:
        place: Where the text stands.
        text: Never empty after ``strip()``; no NUL, no byte order mark.
        metadata: The fields of a record, or what the file says of itself.
        notes: What the reader had to tolerate (a short row, a fallback encoding), for the summary.
        record_id: What identifies a record, where YAML names the field.
    """

    place: Place
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    record_id: str | None = None

    @cached_property
    def id(self) -> str:
        """The id of the text alone: a renamed or copied file keeps it."""
        return content_id(self.text)


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A run of a document's text, at most ``chunk_size`` tokens long.

    Attributes:
        document_id: ``Document.id`` of the text that it was cut from.
        text: The run itself, the overlap with the chunk before included.
        n_tokens: Tokens of ``text`` in the encoding it was cut by.
        overlap: Leading characters of ``text`` that the chunk before ends with; joining
            ``text[overlap:]`` over a document's chunks gives the document back.
    """

    document_id: str
    text: str
    n_tokens: int
    overlap: int = 0

    @cached_property
    def id(self) -> str:
        """The id of the text: equal runs of two documents are one text unit."""
        return content_id(self.text)


@dataclass(frozen=True, kw_only=True, order=True)
class SkippedFile:
    """A file below the source that is not in the index, and why."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
