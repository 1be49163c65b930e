"""Ids are contents; places are printed for people."""

from __future__ import annotations

import hashlib

import pytest

from holodeck.lib.documents import Chunk, Document, Place, SkippedFile, content_id

pytestmark = pytest.mark.unit


def test_an_id_is_a_digest_of_the_framed_parts() -> None:
    """The id is 128 bits of SHA-256 over length-framed UTF-8, the same on every machine."""
    framed = b"2:ab" + b"3:\xe2\x82\xac"

    assert content_id("ab", "€") == hashlib.sha256(framed).hexdigest()[:32]


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), (("1:a",), ("a",)), ((), ("",))],
)
def test_parts_are_told_apart(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Parts that only join to the same text have different ids."""
    assert content_id(*one) != content_id(*other)


def test_a_lone_surrogate_has_an_id() -> None:
    """Text that is not valid Unicode is still identified, never an encoding error."""
    assert content_id("\ud800") != content_id("\ufffd")


def test_a_document_is_identified_by_its_text_alone() -> None:
    """A renamed, moved or re-described document keeps its id; an edited one does not."""
    document = Document(place=Place(path="a.txt"), text="Ada")
    renamed = Document(place=Place(path="b/c.txt", row=3), text="Ada", metadata={"id": "7"})

    assert document.id == renamed.id == content_id("Ada")
    assert document.id != Document(place=Place(path="a.txt"), text="Ada.").id


def test_a_chunk_is_identified_by_its_text_alone() -> None:
    """Equal runs of two documents are one text unit."""
    one = Chunk(document_id="1", text="Ada", n_tokens=1)
    two = Chunk(document_id="2", text="Ada", n_tokens=1, overlap=2)

    assert one.id == two.id == content_id("Ada")


@pytest.mark.parametrize(
    ("place", "printed"),
    [
        (Place(path="a.txt"), "a.txt"),
        (Place(path="b/a.pdf", page=2), "b/a.pdf, page 2"),
        (Place(path="a.csv", row=10), "a.csv, row 10"),
    ],
)
def test_a_place_is_printed_with_its_page_or_row(place: Place, printed: str) -> None:
    """A source line says where to open the file."""
    assert str(place) == printed


def test_a_skipped_file_is_printed_with_its_reason() -> None:
    """The summary names the file and why it is not in the index."""
    assert str(SkippedFile(path="a.pdf", reason="no text")) == "a.pdf: no text"
