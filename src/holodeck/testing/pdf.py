"""A PDF with a line of text on each page, written without a library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["write_pdf"]

_FIRST_PAGE = 4  # objects 1 to 3 are the catalog, the page tree and the font


def write_pdf(file: Path, pages: Sequence[str]) -> Path:
    """Write ``file``; the lines are ASCII without brackets."""
    kids = " ".join(f"{_FIRST_PAGE + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Courier>>",
    ]
    for number, line in enumerate(pages):
        drawing = f"BT /F 9 Tf 9 99 Td ({line}) Tj ET"
        objects += [
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 500 200]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {_FIRST_PAGE + 1 + 2 * number} 0 R>>",
            f"<</Length {len(drawing)}>>\nstream\n{drawing}\nendstream",
        ]
    content, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    content += (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(content)}\n%%EOF\n"
    )
    file.write_bytes(content.encode("ascii"))
    return file
