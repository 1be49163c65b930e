"""Web pages (.html): a page is one document; headings, lists and tables stay, scripts do not."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from markitdown import StreamInfo
from markitdown.converters import HtmlConverter

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.decoding import clean_text, decode
from holodeck.lib.readers.markdown import without_pictures
from holodeck.lib.readers.opening import read_bytes
from holodeck.lib.readers.options import ReadOptions

__all__ = ["read"]

# Where a page says how it is encoded: within its first kilobyte, by the standard.
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_HEAD = 1024
# markitdown takes these to stand within a line, and would glue their text to its neighbours.
_BLOCK = re.compile(
    r"(?=</?(?:address|aside|button|details|fieldset|footer|form|header|legend|main|nav|noscript"
    r"|option|select|summary|template|textarea)\b)",
    re.IGNORECASE,
)


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return the one document of the page, its title first.

    A page that is neither UTF-8 nor marked is decoded as it says itself, else as the fallback.
    """
    content = read_bytes(file)
    html, notes = decode(content, _as_declared(content, options))
    stream = BytesIO(_BLOCK.sub("\n", clean_text(html)).encode())
    try:
        with warnings.catch_warnings():
            # It warns of pages nested too deeply for Markdown, and gives their plain text.
            warnings.simplefilter("ignore")
            page = HtmlConverter().convert(stream, StreamInfo(charset="utf-8"))
    except Exception as error:  # a broken page raises whatever the library stumbles over
        raise ReadError(f"not a readable web page: {error or type(error).__name__}") from error
    text = clean_text(without_pictures(page.markdown)).strip()
    if not text:
        raise ReadError("no extractable text: it is empty or made by scripts")
    title = " ".join(clean_text(page.title or "").split())
    if title and title not in text:
        text = f"# {title}\n\n{text}"
    return [Document(place=Place(path=path), text=text, notes=notes)]


def _as_declared(content: bytes, options: ReadOptions) -> ReadOptions:
    found = _CHARSET.search(content[:_HEAD])
    if found is None:
        return options
    declared = found[1].decode("ascii")
    try:
        return replace(options, encoding_fallback=declared)
    except ValueError:  # no encoding that there is
        return options
