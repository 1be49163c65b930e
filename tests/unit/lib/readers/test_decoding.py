"""Bytes become text by their mark, as UTF-8 or by the stated fallback; never by a guess."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.errors import ConfigError, ReadError
from holodeck.lib.readers.decoding import clean_text, decode
from holodeck.lib.readers.options import ReadOptions

pytestmark = pytest.mark.unit

ADA = "Ada Lovelace leads Analytical Ltd. 삼성 🚀"
OPTIONS = ReadOptions()


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-8"),
    ],
)
def test_a_mark_says_the_encoding(mark: bytes, encoding: str) -> None:
    """Marked text is decoded by its mark, unmarked text as UTF-8, and neither is noted."""
    assert decode(mark + ADA.encode(encoding), OPTIONS) == (ADA, ())


def test_legacy_bytes_are_decoded_by_the_fallback_and_noted() -> None:
    """Text that is not UTF-8 is decoded by the stated encoding, and a note says so."""
    text = "Café Zoë signed the lease"

    assert decode(text.encode("cp1252"), OPTIONS) == (text, ("decoded as cp1252",))


def test_another_fallback_has_its_effect() -> None:
    """The setting is used: Japanese of an old system is read where it is named."""
    text = "株式会社オリオン"

    assert decode(text.encode("shift_jis"), ReadOptions(encoding_fallback="shift_jis")) == (
        text,
        ("decoded as shift_jis",),
    )


def test_without_a_fallback_legacy_bytes_are_refused() -> None:
    """With null, nothing is decoded by assumption: the reason names place and setting."""
    with pytest.raises(ReadError, match=r"not UTF-8 \(at byte 3\).*encoding_fallback"):
        decode("Café".encode("cp1252"), ReadOptions(encoding_fallback=None))


def test_bytes_that_the_fallback_does_not_have_are_refused() -> None:
    """cp1252 has no character for five bytes: such a file is no text in it."""
    with pytest.raises(ReadError, match=r"neither UTF-8 .* nor cp1252"):
        decode(b"caf\xe9 \x81", OPTIONS)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark_is_recognised_when_certain(encoding: str) -> None:
    """Latin text in UTF-16 is told by its zero bytes, and noted."""
    text = "Ada Lovelace leads Analytical Ltd.\nCafé\n"

    assert decode(text.encode(encoding), OPTIONS) == (text, ("decoded as UTF-16",))


@pytest.mark.parametrize(
    "content",
    [
        b"Ada\x00Lovelace",
        b"\x00" * 64,
        bytes(range(256)) * 4,
        b"A\x00d\x00a",
        b"A\x00\x01\x00\x02\x00\x03\x00" * 8,
        b"\xff\xfeA\x00\x00\x00",
        b"\x01\x02\x03 \x05\x06",
    ],
)
def test_binary_content_is_not_text(content: bytes) -> None:
    """Zero bytes and controls are refused: they never reach a model as letters between NULs."""
    with pytest.raises(ReadError, match=r"not text|broken"):
        decode(content, OPTIONS)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.4\nall of it is ASCII", "a PDF"),
        (b"PK\x03\x04\x14", "a zip archive or an office document"),
        (b"\x89PNG\r\n", "a picture"),
        (b"{\\rtf1 text}", "rich text"),
    ],
)
def test_another_type_behind_a_text_ending_is_named(content: bytes, kind: str) -> None:
    """A file with the wrong ending is refused with what it is."""
    with pytest.raises(ReadError, match=f"not text but {kind}"):
        decode(content, OPTIONS)


def test_marked_text_that_is_broken_is_refused() -> None:
    """A mark is believed: what does not decode by it is not tried as something else."""
    with pytest.raises(ReadError, match="marked as utf-16-le, but is broken at byte"):
        decode(codecs.BOM_UTF16_LE + b"A\x00\x00\xd8", OPTIONS)


def test_terminal_colours_are_text() -> None:
    """A log with colour codes is text."""
    text = "\x1b[31mError\x1b[0m: disk full\f"

    assert decode(text.encode(), OPTIONS) == (text, ())


@pytest.mark.parametrize("name", ["klingon", "base64", "rot13", ""])
def test_a_fallback_that_is_no_encoding_is_refused_at_once(name: str) -> None:
    """A wrong setting is found before any file is read."""
    with pytest.raises(ConfigError, match="encoding_fallback"):
        ReadOptions(encoding_fallback=name)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\ufeffa\ufeffb", "ab"),
        ("a\0b", "ab"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\ud800b", "a\ufffdb"),
        ("  a\u2028\x85 ", "  a\u2028\x85 "),
    ],
)
def test_text_is_cleaned_of_what_no_document_has(text: str, cleaned: str) -> None:
    """Marks, NULs, CRs and half pairs go; everything else stays as it was written."""
    assert clean_text(text) == cleaned


@given(content=st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_text_or_a_read_error(content: bytes) -> None:
    """Whatever the bytes: clean text that UTF-8 can write, or a reason."""
    try:
        text = clean_text(decode(content, OPTIONS)[0])
    except ReadError:
        return
    assert text.encode("utf-8").decode("utf-8") == text
    assert not set(text) & {"\0", "\ufeff", "\r"}
