"""PDF: a page is a document; a scan or a locked file is refused with its reason."""

from __future__ import annotations

import logging
from io import BytesIO
from pathlib import Path

from pypdf import PageObject, PasswordType, PdfReader
from pypdf.errors import DependencyError

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.decoding import clean_text
from holodeck.lib.readers.opening import read_bytes
from holodeck.lib.readers.options import ReadOptions

__all__ = ["read"]

# pypdf warns of every oddity that it mends, by the hundred; what fails is raised and reported.
_pypdf_logger = logging.getLogger("pypdf")
if _pypdf_logger.level == logging.NOTSET:
    _pypdf_logger.setLevel(logging.CRITICAL)


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return a document for each page that has text; pages are counted from 1."""
    content = read_bytes(file)
    texts: dict[int, str] = {}
    broken: dict[int, ReadError] = {}
    for number, page in enumerate(_pages(content), start=1):
        try:
            texts[number] = _page_text(page)
        except ReadError as error:
            broken[number] = error
    notes = [f"page {number} could not be read: {error}" for number, error in broken.items()]
    blank = [str(number) for number, text in texts.items() if not text.strip()]
    if len(blank) == len(texts):
        raise ReadError("; ".join(["no extractable text (a scan?)", *notes]))
    if blank:
        notes.append(f"no text on page(s) {', '.join(blank)}: blank or scanned")
    documents: list[Document] = []
    for number, text in texts.items():
        if text.strip():
            place = Place(path=path, page=number)
            documents.append(
                Document(place=place, text=text, notes=() if documents else tuple(notes))
            )
    return documents


def _pages(content: bytes) -> list[PageObject]:
    """Return the pages, unlocked where a file only restricts what may be done with it."""
    try:
        reader = PdfReader(BytesIO(content))
        _unlock(reader)
        return list(reader.pages)
    except ReadError:
        raise
    except DependencyError as error:
        raise ReadError(
            "encrypted: no extractable text until pip install 'pypdf[crypto]'"
        ) from error
    except Exception as error:  # a broken file raises whatever pypdf stumbles over
        raise ReadError(f"not a readable PDF: {error or type(error).__name__}") from error


def _unlock(reader: PdfReader) -> None:
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise ReadError("locked by a password: no extractable text")


def _page_text(page: PageObject) -> str:
    try:
        return clean_text(page.extract_text())
    except Exception as error:  # as above
        raise ReadError(str(error) or type(error).__name__) from error
