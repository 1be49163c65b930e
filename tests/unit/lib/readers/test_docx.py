"""Word documents: what stands on the page is read, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.docx import read
from holodeck.lib.readers.options import ReadOptions

pytestmark = pytest.mark.unit

OPTIONS = ReadOptions()


def paragraph(text: str) -> str:
    """A paragraph of one run."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_paragraphs_tables_and_notes_are_read_in_order(tmp_path: Path, make_docx: Any) -> None:
    """A paragraph is a line, a table row a line of cells; footnotes follow the text."""
    body = (
        "<w:body><w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr>"
        "<w:r><w:t>Bob founded </w:t></w:r><w:r><w:t>Orion &amp; Co</w:t><w:tab/>"
        "<w:t>삼성</w:t></w:r></w:p>"
        f"<w:tbl><w:tblPr/><w:tr><w:trPr/><w:tc><w:tcPr/>{paragraph('Ada')}</w:tc><w:tc>{paragraph('1843')}</w:tc></w:tr>"
        f"</w:tbl>{paragraph('End')}</w:body>"
    )
    file = make_docx(tmp_path / "a.docx", body, footnotes=paragraph("See 1999."))

    assert read(file, "a.docx", OPTIONS) == [
        Document(
            place=Place(path="a.docx"),
            text="Bob founded Orion & Co\t삼성\nAda | 1843\nEnd\nSee 1999.",
        )
    ]


def test_comments_follow_the_text_and_headers_stay_out(tmp_path: Path, make_docx: Any) -> None:
    """What a reviewer wrote is text of the file; what repeats on every page is not."""
    repeated = paragraph("Orion Ltd")
    parts = {"comments": paragraph("Ask Ada."), "header1": repeated, "footer1": repeated}

    (document,) = read(make_docx(tmp_path / "a.docx", paragraph("End"), **parts), "a.docx", OPTIONS)

    assert document.text == "End\nAsk Ada."


def test_a_heading_is_marked_by_its_level(tmp_path: Path, make_docx: Any) -> None:
    """A style counts by its English name, whatever its id is in the language of the file."""
    styles = (
        '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Standard"><w:name w:val="Normal"/></w:style>'
    )
    body = (
        '<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Orion</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:pStyle w:val="Standard"/></w:pPr><w:r><w:t>Bob</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr></w:p>'
    )

    (document,) = read(make_docx(tmp_path / "a.docx", body, styles=styles), "a.docx", OPTIONS)

    assert document.text == "## Orion\nBob"


def test_what_was_deleted_moved_or_repeated_stays_out(tmp_path: Path, make_docx: Any) -> None:
    """Tracked deletions are not text, and a moved or doubled text is read once."""
    body = (
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
        "<w:moveTo><w:r><w:t>moved </w:t></w:r></w:moveTo>"
        "<mc:AlternateContent><mc:Choice><w:r><w:t>box</w:t></w:r></mc:Choice>"
        "<mc:Fallback><w:r><w:t>box</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>"
    )

    (document,) = read(make_docx(tmp_path / "a.docx", body), "a.docx", OPTIONS)

    assert document.text == "moved box"


def test_a_document_of_pictures_is_refused(tmp_path: Path, make_docx: Any) -> None:
    """Nothing to read is a reason, not an empty success."""
    with pytest.raises(ReadError, match="no extractable text"):
        read(make_docx(tmp_path / "a.docx", "<w:p><w:drawing/></w:p>"), "a.docx", OPTIONS)


def test_a_locked_document_is_refused(tmp_path: Path) -> None:
    """A password turns a Word document into another container: the reason says so."""
    (tmp_path / "a.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))

    with pytest.raises(ReadError, match="locked by a password"):
        read(tmp_path / "a.docx", "a.docx", OPTIONS)


@pytest.mark.parametrize("length", [0, 30, 200, 300])
def test_a_cut_off_document_is_refused(length: int, tmp_path: Path, make_docx: Any) -> None:
    """A download that stopped halfway is a reason, never its first letters."""
    file = make_docx(tmp_path / "a.docx", paragraph("Bob founded Orion"))
    file.write_bytes(file.read_bytes()[:length])

    with pytest.raises(ReadError, match="not a readable Word document"):
        read(file, "a.docx", OPTIONS)


@pytest.mark.parametrize(
    ("name", "xml"),
    [
        ("word/other.xml", "<a/>"),
        ("word/document.xml", "<a><b></a>"),
        ("word/document.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
        ("word/document.xml", "<a>" * 20_000 + "</a>" * 20_000),
    ],
)
def test_foreign_or_hostile_content_is_refused(name: str, xml: str, tmp_path: Path) -> None:
    """No body, broken XML, entities and endless nesting are reasons."""
    with ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr(name, xml)

    with pytest.raises(ReadError, match="not a readable Word document"):
        read(tmp_path / "a.docx", "a.docx", OPTIONS)
