"""Word documents (.docx): a file is one document; what was deleted or is only layout stays out."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET
from zipfile import BadZipFile, ZipFile

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.decoding import clean_text
from holodeck.lib.readers.options import ReadOptions

__all__ = ["read"]

_BODY = "word/document.xml"
_PARTS = (_BODY, "word/footnotes.xml", "word/endnotes.xml")
# Tags without their namespace, which differs between the two forms of the standard.
# A moved text stands where it was moved to; a fallback repeats what stands beside it.
_LEFT_OUT = frozenset({"moveFrom", "Fallback", "tblGrid"})
# Properties of paragraphs, rows and so on: layout, with tab stops that are no text.
_LAYOUT = ("Pr", "PrEx")
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
# A part that unpacks to more is no letter: it was made to fill the memory.
_MOST_BYTES = 200_000_000


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return the one document of the file, its footnotes and endnotes last."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ReadError(f"it cannot be opened: {error.strerror or error}") from error
    if content.startswith(_OLD_FORMAT):
        raise ReadError(
            "locked by a password, or of an old format: no extractable text; save it as .docx "
            "without a password"
        )
    try:
        text = "\n".join(_part_texts(content))
    except (BadZipFile, ET.ParseError, EOFError, KeyError, RuntimeError, zlib.error) as error:
        # RuntimeError: a member is encrypted, of unknown compression, or nested too deeply.
        raise ReadError(f"not a readable Word document: {error}") from error
    if not text.strip():
        raise ReadError("no extractable text: it is empty or holds pictures only")
    return [Document(place=Place(path=path), text=text)]


def _part_texts(content: bytes) -> Iterator[str]:
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        for name in _PARTS:
            if name in names or name == _BODY:
                yield _part_text(archive, name)


def _part_text(archive: ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise ReadError(f"not a readable Word document: {name} is larger than any text")
    xml = archive.read(name)
    # Word writes no document type; with one, entities could unfold without end.
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise ReadError(f"not a readable Word document: {name} declares a document type")
    return clean_text(_text(ET.fromstring(xml))).strip("\n")  # noqa: S314  # see above


def _text(element: ET.Element) -> str:
    tag = _tag(element)
    if _is_left_out(tag):
        return ""
    if tag == "t":
        return element.text or ""
    if tag == "tr":
        cells = [_text(cell) for cell in element if not _is_left_out(_tag(cell))]
        return " | ".join(" ".join(cell.split()) for cell in cells) + "\n"
    inner = "".join(_text(child) for child in element)
    return inner + "\n" if tag == "p" else _CHARACTERS.get(tag, inner)


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _is_left_out(tag: str) -> bool:
    return tag in _LEFT_OUT or tag.endswith(_LAYOUT)
