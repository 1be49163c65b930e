"""Plain text and Markdown: a file is one document, as it was written."""

from __future__ import annotations

from pathlib import Path

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.decoding import read_text
from holodeck.lib.readers.options import ReadOptions

__all__ = ["read"]


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return the one document of the file."""
    text, notes = read_text(file, options)
    if not text.strip():
        raise ReadError("no text: it is empty or blank")
    return [Document(place=Place(path=path), text=text, notes=notes)]
