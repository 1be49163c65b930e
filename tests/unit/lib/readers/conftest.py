"""Files that are too long to write out in a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from zipfile import ZipFile

import pytest


class MakePdf(Protocol):
    def __call__(self, file: Path, pages: Sequence[str], *, password: str | None = None) -> Path:
        """Write a PDF with a line of text on each page; an empty line makes a scanned page."""


def pdf_bytes(pages: Sequence[str]) -> bytes:
    """A PDF written by hand: catalog, page tree, font, a one-pixel picture, pages."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray"
        b" /BitsPerComponent 8 /Length 1 >>\nstream\n\x80\nendstream",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET" if text else "/I1 Do"
        bodies.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources"
            b" << /Font << /F1 3 0 R >> /XObject << /I1 4 0 R >> >>"
            + f" /Contents {6 + 2 * number} 0 R >>".encode()
        )
        bodies.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream".encode())
    content, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    rows = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    tail = (
        f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{rows}"
        f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    )
    return content + tail.encode()


@pytest.fixture
def make_pdf() -> MakePdf:
    """The writer of PDF files."""

    def make(file: Path, pages: Sequence[str], *, password: str | None = None) -> Path:
        file.write_bytes(pdf_bytes(pages))
        if password is not None:
            from pypdf import PdfWriter

            writer = PdfWriter(clone_from=file)
            writer.encrypt(password, algorithm="RC4-128")
            writer.write(file)
        return file

    return make


class MakeDocx(Protocol):
    def __call__(self, file: Path, body: str, **parts: str) -> Path:
        """Write a Word document with this XML as its body, and as the other parts named."""


@pytest.fixture
def make_docx() -> MakeDocx:
    """The writer of Word documents."""

    def make(file: Path, body: str, **parts: str) -> Path:
        with ZipFile(file, "w") as archive:
            for name, inner in {"document": body, **parts}.items():
                xml = (
                    '<?xml version="1.0" encoding="UTF-8"?><w:root xmlns:w='
                    '"http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc='
                    f'"http://schemas.openxmlformats.org/markup-compatibility/2006">{inner}</w:root>'
                )
                archive.writestr(f"word/{name}.xml", xml)
        return file

    return make


class MakePptx(Protocol):
    def __call__(self, file: Path, slides: Sequence[str]) -> Path:
        """Write a presentation, a line of text on each slide; an empty line makes a blank one."""


@pytest.fixture
def make_pptx() -> MakePptx:
    """The writer of presentations."""

    def make(file: Path, slides: Sequence[str]) -> Path:
        from pptx import Presentation

        deck = Presentation()
        for text in slides:
            slide = deck.slides.add_slide(deck.slide_layouts[6 if not text else 5])
            if text:
                slide.shapes.title.text = text
        deck.save(str(file))
        return file

    return make


class MakeXlsx(Protocol):
    def __call__(self, file: Path, *sheets: Sequence[Sequence[object]]) -> Path:
        """Write a workbook with these rows on each sheet."""


@pytest.fixture
def make_xlsx() -> MakeXlsx:
    """The writer of workbooks."""

    def make(file: Path, *sheets: Sequence[Sequence[object]]) -> Path:
        from openpyxl import Workbook

        book = Workbook()
        book.remove(book.active)
        for number, rows in enumerate(sheets, start=1):
            sheet = book.create_sheet(f"Sheet {number}")
            for row in rows:
                sheet.append(list(row))
        book.save(file)
        return file

    return make
