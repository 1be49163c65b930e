"""Presentations, workbooks and web pages."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from holodeck.errors import ReadError
from holodeck.lib.documents import Place
from holodeck.lib.readers import html, pptx, xlsx
from holodeck.lib.readers.options import ReadOptions

OPTIONS = ReadOptions()
EMPTY_STRING = '<c r="B2" t="str"><f>""</f><v></v></c>'


def test_a_slide_is_a_page_with_its_table_and_its_notes(tmp_path: Path) -> None:
    """What the speaker says is text too; a slide without any is noted by its number."""
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Orion"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for number, cell in enumerate(("Name", "Year", "Bob", "1999")):
        table.cell(number // 2, number % 2).text = cell
    slide.notes_slide.notes_text_frame.text = "Mention Ann"
    deck.slides.add_slide(deck.slide_layouts[6])
    deck.save(str(tmp_path / "a.pptx"))

    (document,) = pptx.read(tmp_path / "a.pptx", "a.pptx", OPTIONS)

    assert document.place == Place(path="a.pptx", page=1)
    for text in ("Orion", "| Bob | 1999 |", "Mention Ann"):
        assert text in document.text
    assert document.notes == ("no text on slide(s) 2",)


def test_a_row_of_a_sheet_is_a_record(tmp_path: Path, make_xlsx: Any) -> None:
    """Numbers and dates read as they look, empty cells are nothing, and several sheets are told."""
    rows = [
        ["name", "year", None, "paid"],
        ["Ann", 1999.0, None, True],
        [None, None, None, None],
        ["Bob", dt.datetime(2001, 2, 3), "extra", 1.5, "beyond"],  # as Excel keeps it
    ]
    one = xlsx.read(make_xlsx(tmp_path / "a.xlsx", rows), "a.xlsx", OPTIONS)
    two = xlsx.read(make_xlsx(tmp_path / "b.xlsx", rows[:2], rows[:2]), "b.xlsx", OPTIONS)

    assert one[0].metadata == {"name": "Ann", "year": "1999", "paid": "true", "sheet": "Sheet 1"}
    assert (
        one[1].text == "name: Bob\nyear: 2001-02-03\ncolumn 3: extra\npaid: 1.5\ncolumn 5: beyond"
    )
    assert one[1].notes
    assert [str(document.place) for document in one] == ["a.xlsx, row 1", "a.xlsx, row 2"]
    assert [str(document.place) for document in two] == [
        "b.xlsx, sheet 1, row 1",
        "b.xlsx, sheet 2, row 1",
    ]


def test_a_cell_far_away_is_one_cell(tmp_path: Path) -> None:
    """The rows and columns before it are not filled up: they may be a million by 16,384."""
    from openpyxl import Workbook

    book = Workbook()
    for row in (["name", "works"], ["Ann", "Orion"]):
        book.active.append(row)
    book.active["XFD1048576"] = "far"
    book.save(tmp_path / "a.xlsx")

    documents = xlsx.read(tmp_path / "a.xlsx", "a.xlsx", OPTIONS)

    assert [each.text for each in documents] == ["name: Ann\nworks: Orion", "column 16384: far"]


def test_formulas_never_calculated_are_counted(tmp_path: Path, make_xlsx: Any) -> None:
    """A program may write formulas without their values: the note says how many, and what to do."""
    rows = [["name", "sum"], ["Ann", "=1+1"], ["Bob", "=2+2"]]
    (first, second) = xlsx.read(make_xlsx(tmp_path / "a.xlsx", rows), "a.xlsx", OPTIONS)

    assert first.text == "name: Ann"
    assert first.notes == (
        "2 formulas hold no value and cannot be read: the file was never calculated; open and "
        "save it in a spreadsheet program",
    )
    assert second.notes == ()
    with pytest.raises(ReadError, match="no sheet has a row below its header; 1 formula holds no"):
        xlsx.read(make_xlsx(tmp_path / "b.xlsx", [["sum"], ["=1+1"]]), "b.xlsx", OPTIONS)


@pytest.mark.parametrize("cell", ['<c r="B2"><f>1+1</f><v>2</v></c>', EMPTY_STRING])
def test_a_calculated_formula_is_not_noted(cell: str, tmp_path: Path, make_xlsx: Any) -> None:
    """A value kept with its formula is read, an empty text among them."""
    made = make_xlsx(tmp_path / "made.xlsx", [["name", "sum"], ["Ann", "=1+1"]])
    with ZipFile(made) as old, ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            written = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                written, changed = re.subn(
                    rb'<c r="B2".*?</c>', cell.encode(), written, flags=re.DOTALL
                )
                assert changed == 1
            new.writestr(name, written)

    (document,) = xlsx.read(tmp_path / "a.xlsx", "a.xlsx", OPTIONS)

    assert document.notes == ()
    assert document.text == ("name: Ann" if cell == EMPTY_STRING else "name: Ann\nsum: 2")


def test_a_page_is_what_its_reader_sees(tmp_path: Path) -> None:
    """Title, headings, lists and tables stay; scripts, styles and pictures' data do not."""
    (tmp_path / "a.html").write_text(
        "<html><head><title>The Orion\n project</title><style>p {color: red}</style></head><body>"
        "<script>var hidden = 1</script><h2>Who</h2><ul><li>Ann</li></ul>"
        "<table><tr><th>Year</th></tr><tr><td>1999</td></tr></table>"
        '<img alt="A portrait" src="data:image/png;base64,AAAA"></body></html>',
        encoding="utf-8",
    )

    (document,) = html.read(tmp_path / "a.html", "a.html", OPTIONS)

    for text in ("# The Orion project", "## Who", "* Ann", "| 1999 |", "A portrait"):
        assert text in document.text
    for text in ("hidden", "color", "base64"):
        assert text not in document.text


@pytest.mark.parametrize(
    "page",
    [
        "<nav>Home</nav><main>Orion</main><footer>Imprint</footer>",
        "<b>Home</b><template>Orion</template>Imprint",
        "<details><summary>Home</summary>Orion</details><address>Imprint</address>",
        "<select><option>Home</option><option>Orion</option></select><button>Imprint</button>",
        "<p>Home<noscript>Orion</noscript>Imprint</p>",
    ],
)
def test_neighbours_on_a_page_are_words_of_their_own(page: str, tmp_path: Path) -> None:
    """What a browser sets apart is never glued into one word."""
    (tmp_path / "a.html").write_text(page, encoding="utf-8")

    (document,) = html.read(tmp_path / "a.html", "a.html", OPTIONS)

    assert document.text.replace("*", "").split() == ["Home", "Orion", "Imprint"]


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [('<meta charset="shift_jis">', "shift_jis"), ("", "cp1252"), ('<meta charset="x">', "cp1252")],
)
def test_a_page_is_decoded_as_it_declares(declared: str, encoding: str, tmp_path: Path) -> None:
    """UTF-8 and a mark go first, then the page's own word, then the fallback."""
    text = "日本" if encoding == "shift_jis" else "Café"
    (tmp_path / "a.html").write_bytes(f"{declared}<p>{text}</p>".encode(encoding))

    (document,) = html.read(tmp_path / "a.html", "a.html", OPTIONS)

    assert text in document.text


@pytest.mark.parametrize(
    ("module", "ending", "part"),
    [(pptx, "pptx", "ppt/presentation.xml"), (xlsx, "xlsx", "xl/workbook.xml")],
)
def test_a_locked_foreign_or_hostile_file_is_refused(
    module: Any, ending: str, part: str, tmp_path: Path
) -> None:
    """The reason is told before any library sees the file."""
    file = tmp_path / f"a.{ending}"
    file.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(500))
    with pytest.raises(ReadError, match="locked by a password"):
        module.read(file, file.name, OPTIONS)
    for name, content in (
        (part, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
        ("other.xml", "<a/>"),
        (part, "<a>"),
    ):
        with ZipFile(file, "w") as archive:
            archive.writestr(name, content)
        with pytest.raises(ReadError, match="not a readable"):
            module.read(file, file.name, OPTIONS)


def test_only_what_is_text_counts_against_the_guard(tmp_path: Path, make_pptx: Any) -> None:
    """A film beside the slides is no reason to refuse them; a text that fills the memory is."""
    file = make_pptx(tmp_path / "a.pptx", ["Orion"])
    with ZipFile(file, "a", ZIP_DEFLATED) as archive:
        archive.writestr("ppt/media/film.mp4", bytes(201_000_000))

    assert pptx.read(file, "a.pptx", OPTIONS)[0].text == "# Orion"
    with ZipFile(file, "a", ZIP_DEFLATED) as archive:
        archive.writestr("ppt/slides/more.xml", b" " * 201_000_000)
    with pytest.raises(ReadError, match="more than any text"):
        pptx.read(file, "a.pptx", OPTIONS)
