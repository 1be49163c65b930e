"""Bytes → text: by the mark they carry, else UTF-8, else the stated fallback; never a guess."""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path

from holodeck.errors import ReadError
from holodeck.lib.readers.opening import read_bytes
from holodeck.lib.readers.options import ReadOptions

__all__ = ["clean_text", "decode", "read_text"]

# The mark of UTF-16LE begins that of UTF-32LE, so the longer ones come first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY_STARTS = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a compressed file"),
    (b"\x7fELF", "a program"),
    (b"{\\rtf", "rich text"),
)
# Controls that no text has: all of C0 but backspace, tab, line and page breaks, and escape.
_CONTROL = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS = 0.05
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_REMOVED = {0: None, 0xFEFF: None}


def read_text(file: Path, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    """Return the text of ``file``, cleaned, and notes on how it was decoded.

    Raises:
        ReadError: It cannot be opened, or is not text.
    """
    text, notes = decode(read_bytes(file), options)
    return clean_text(text), notes


def clean_text(text: str) -> str:
    r"""Return ``text`` fit for a document: no NUL, no byte order mark anywhere, ``\n`` newlines.

    Half a surrogate pair, which no encoding can write, becomes U+FFFD.
    """
    text = text.translate(_REMOVED).replace("\r\n", "\n").replace("\r", "\n")
    return _LONE_SURROGATE.sub("\ufffd", text)


def decode(content: bytes, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    """Return the text that ``content`` is, not yet cleaned, and notes on how it was decoded.

    Raises:
        ReadError: It is not text.
    """
    for start, kind in _BINARY_STARTS:
        if content.startswith(start):
            raise ReadError(f"not text but {kind}: its name has the wrong ending")
    notes: tuple[str, ...] = ()
    text = _decode_marked(content)
    if text is None and b"\0" in content:
        text, notes = _decode_unmarked_utf16(content), ("decoded as UTF-16",)
    elif text is None:
        text, notes = _decode_bytes(content, options.encoding_fallback)
    if text is None or len(_CONTROL.findall(text)) > _MOST_CONTROLS * len(text) or "\0" in text:
        raise ReadError("not text: it holds control characters that no text has")
    return text, notes


def _decode_marked(content: bytes) -> str | None:
    problem: UnicodeDecodeError | None = None
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                problem = problem or error
    if problem is not None:
        raise ReadError(
            f"it is marked as {problem.encoding}, but is broken at byte {problem.start}: save it "
            "anew as UTF-8"
        ) from problem
    return None


def _decode_unmarked_utf16(content: bytes) -> str | None:
    """Return the text if this is certain to be UTF-16 without its mark.

    Certain is what has its zero bytes in every other place only, and many: Latin letters, whose
    other byte is zero; and no character in it that text does not have.
    """
    even, odd = content[0::2].count(0), content[1::2].count(0)
    if len(content) % 2 or min(even, odd) > 0 or max(even, odd) < len(content) / 8:
        return None
    try:
        text = content.decode("utf-16-le" if odd else "utf-16-be")
    except UnicodeDecodeError:
        return None
    is_text = all(
        unicodedata.category(character) not in {"Cn", "Co", "Cc"} or character in "\t\n\r\f"
        for character in text
    )
    return text if is_text else None


def _decode_bytes(content: bytes, fallback: str | None) -> tuple[str, tuple[str, ...]]:
    try:
        return content.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        problem = error
    if fallback is None:
        raise ReadError(
            f"not UTF-8 (at byte {problem.start}): save it as UTF-8, or name its encoding as "
            "encoding_fallback"
        ) from problem
    try:
        return content.decode(fallback), (f"decoded as {fallback}",)
    except UnicodeDecodeError as error:
        raise ReadError(
            f"not text: neither UTF-8 (at byte {problem.start}) nor {fallback} (at byte "
            f"{error.start}); if it is text, save it as UTF-8 or change encoding_fallback"
        ) from error
