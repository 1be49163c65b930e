"""Write ``docs/backers.pdf`` from ``backers.txt``, with nothing but the standard library.

The same text gives the same bytes: there is no date, no compression and no random id in the file.
Run it after a change of the text: ``python examples/polar/make_pdf.py``.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE_BREAK = "====\n"
LINE_WIDTH = 84  # characters of 11-point Helvetica that surely fit between the margins
LEADING = 15  # points from line to line
TITLE, BODY = 16, 11  # font sizes in points


def build_pdf(text: str) -> bytes:
    """Return a PDF with one page for each part of ``text``; a part's first line is its title."""
    parts = [part.strip().split("\n", 1) for part in text.split(PAGE_BREAK)]
    page_ids = [4 + 2 * index for index in range(len(parts))]
    kids = " ".join(f"{page_id} 0 R" for page_id in page_ids)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(parts)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for page_id, (title, body) in zip(page_ids, parts, strict=True):
        objects += [_page(page_id + 1), _stream(title, body)]
    return _assemble(objects)


def _page(content_id: int) -> bytes:
    return (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
        f"/Resources << /Font << /F1 3 0 R >> >> /Contents {content_id} 0 R >>"
    ).encode()


def _stream(title: str, body: str) -> bytes:
    lines = [f"BT /F1 {TITLE} Tf 60 770 Td ({_escape(title)}) Tj", f"/F1 {BODY} Tf {LEADING} TL T*"]
    for paragraph in body.split("\n\n"):
        lines += ["T*", *(f"({_escape(line)}) Tj T*" for line in _wrap(paragraph))]
    content = "\n".join([*lines, "ET"]).encode("ascii")
    return b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content)


def _wrap(paragraph: str) -> list[str]:
    # A space is kept at the end of a line, so that a reader that joins lines joins no words.
    return [line + " " for line in textwrap.wrap(paragraph, LINE_WIDTH, break_on_hyphens=False)]


def _escape(text: str) -> str:
    """Return the inside of a PDF string: ASCII, with octal escapes for the rest of cp1252."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"()\\" else f"\\{byte:03o}"
        for byte in text.encode("cp1252")
    )


def _assemble(objects: list[bytes]) -> bytes:
    pdf = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return pdf + (
        b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(pdf))
    )


def main() -> None:
    """Write the file that stands among the documents."""
    text = (HERE / "backers.txt").read_text(encoding="utf-8")
    (HERE / "docs" / "backers.pdf").write_bytes(build_pdf(text))


if __name__ == "__main__":
    main()
