"""PowerPoint (.pptx): a slide is a document, its notes and tables included; by markitdown."""

from __future__ import annotations

import re
from pathlib import Path

from markitdown import StreamInfo
from markitdown.converters import PptxConverter

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.archives import office_bytes
from holodeck.lib.readers.decoding import clean_text
from holodeck.lib.readers.markdown import without_pictures
from holodeck.lib.readers.options import ReadOptions

__all__ = ["read"]

_KIND = "PowerPoint file"
_SLIDE = re.compile(r"<!-- Slide number: (\d+) -->")


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return a document for each slide that has text; slides are pages, counted from 1."""
    content = office_bytes(file, _KIND, "ppt/presentation.xml")
    try:
        markdown = PptxConverter().convert(content, StreamInfo(extension=".pptx")).markdown  # type: ignore[no-untyped-call]  # it has no annotation
    except Exception as error:  # a broken file raises whatever the library stumbles over
        raise ReadError(f"not a readable {_KIND}: {error or type(error).__name__}") from error
    # What stands between the marks of two slides; before the first there is nothing.
    parts = _SLIDE.split(markdown)[1:]
    texts = {
        int(number): clean_text(without_pictures(text)).strip()
        for number, text in zip(parts[::2], parts[1::2], strict=True)
    }
    blank = [str(number) for number, text in texts.items() if not text]
    if len(blank) == len(texts):
        raise ReadError("no extractable text: it is empty or holds pictures only")
    notes = (f"no text on slide(s) {', '.join(blank)}",) if blank else ()
    documents: list[Document] = []
    for number, text in texts.items():
        if text:
            place = Place(path=path, page=number)
            documents.append(Document(place=place, text=text, notes=() if documents else notes))
    return documents
