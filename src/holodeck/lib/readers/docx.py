"""Word documents (.docx): a file is one document; what was deleted or is only layout stays out.

A heading is marked as in Markdown, so that a chunk can keep it with what it heads.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET
from zipfile import BadZipFile, ZipFile

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.archives import office_bytes, tag_of
from holodeck.lib.readers.decoding import clean_text
from holodeck.lib.readers.options import ReadOptions

__all__ = ["read"]

_KIND = "Word document"
_BODY = "word/document.xml"
# Headers and footers are not among them: they repeat on every page, and say nothing of its text.
_PARTS = (_BODY, "word/footnotes.xml", "word/endnotes.xml", "word/comments.xml")
_STYLES = "word/styles.xml"
# Word keeps the English names of its own styles, whatever language it speaks.
_HEADING = re.compile(r"heading ([1-6])", re.IGNORECASE)
# Tags without their namespace.
# A moved text stands where it was moved to; a fallback repeats what stands beside it.
_LEFT_OUT = frozenset({"moveFrom", "Fallback", "tblGrid"})
# Properties of paragraphs, rows and so on: layout, with tab stops that are no text.
_LAYOUT = ("Pr", "PrEx")
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return the one document of the file, its footnotes, endnotes and comments last."""
    content = office_bytes(file, _KIND, _BODY)
    try:
        text = "\n".join(_part_texts(content))
    except (BadZipFile, ET.ParseError, EOFError, KeyError, RuntimeError, zlib.error) as error:
        # RuntimeError: a member is encrypted, of unknown compression, or nested too deeply.
        raise ReadError(f"not a readable {_KIND}: {error}") from error
    if not text.strip():
        raise ReadError("no extractable text: it is empty or holds pictures only")
    return [Document(place=Place(path=path), text=text)]


def _part_texts(content: BytesIO) -> Iterator[str]:
    with ZipFile(content) as archive:
        names = set(archive.namelist())
        headings = _heading_styles(_part(archive, _STYLES)) if _STYLES in names else {}
        for name in _PARTS:
            if name in names or name == _BODY:
                text = _text(_part(archive, name), headings)
                yield clean_text(text).strip("\n")


def _part(archive: ZipFile, name: str) -> ET.Element:
    return ET.fromstring(archive.read(name))  # noqa: S314  # the guard lets no entity pass


def _heading_styles(styles: ET.Element) -> dict[str, int]:
    """Return the id of every style that is a heading, with its level from 1."""
    levels: dict[str, int] = {}
    for style in styles.iter():
        if tag_of(style) == "style":
            names = [_value(child) for child in style if tag_of(child) == "name"]
            found = _HEADING.fullmatch(names[0]) if names else None
            if found is not None:
                levels[_value(style, "styleId")] = int(found[1])
    return levels


def _text(element: ET.Element, headings: Mapping[str, int]) -> str:
    tag = tag_of(element)
    if _is_left_out(tag):
        return ""
    if tag == "t":
        return element.text or ""
    if tag == "tr":
        cells = [_text(cell, headings) for cell in element if not _is_left_out(tag_of(cell))]
        return " | ".join(" ".join(cell.split()) for cell in cells) + "\n"
    inner = "".join(_text(child, headings) for child in element)
    if tag != "p":
        return _CHARACTERS.get(tag, inner)
    level = headings.get(_style(element), 0) if inner.strip() else 0
    return f"{'#' * level} {inner}\n" if level else f"{inner}\n"


def _style(paragraph: ET.Element) -> str:
    """Return the id of a paragraph's style; empty: it has none of its own."""
    for properties in paragraph:
        if tag_of(properties) == "pPr":
            return next((_value(each) for each in properties if tag_of(each) == "pStyle"), "")
    return ""


def _value(element: ET.Element, name: str = "val") -> str:
    return next((text for key, text in element.items() if key.rpartition("}")[2] == name), "")


def _is_left_out(tag: str) -> bool:
    return tag in _LEFT_OUT or tag.endswith(_LAYOUT)
