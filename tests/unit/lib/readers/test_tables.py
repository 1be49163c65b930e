"""CSV and TSV: every record and every cell is kept, whatever separates them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.tables import read

pytestmark = pytest.mark.unit


def read_table(folder: Path, text: str, ending: str = ".csv") -> list[Document]:
    """Read a table of this text."""
    file = folder / f"p{ending}"
    file.write_bytes(text.encode())
    return read(file, file.name, ReadOptions())


def test_a_record_is_a_document_with_its_fields(tmp_path: Path) -> None:
    """A record's text names its columns, its place its number; blank cells are left out."""
    documents = read_table(tmp_path, "name,role,born\nAda,engineer,1815\n\nBob,,1900\n")

    assert documents == [
        Document(
            place=Place(path="p.csv", row=1),
            text="name: Ada\nrole: engineer\nborn: 1815",
            metadata={"name": "Ada", "role": "engineer", "born": "1815"},
        ),
        Document(
            place=Place(path="p.csv", row=2),
            text="name: Bob\nborn: 1900",
            metadata={"name": "Bob", "born": "1900"},
        ),
    ]


def test_a_difficult_table_is_read_whole(tmp_path: Path) -> None:
    """Semicolons, quoted newlines and quotes, ragged rows, a huge cell and repeated ids."""
    large = "x" * 200_000
    text = (
        "id;name;note\n"
        '7;Ada;"first line\nsays ""hello""; really"\n'
        "7;Bob;note;extra\n"
        "8;Cid\n"
        f"9;Dan;{large}\n"
    )

    documents = read_table(tmp_path, text)

    assert [dict(document.metadata) for document in documents] == [
        {"id": "7", "name": "Ada", "note": 'first line\nsays "hello"; really'},
        {"id": "7", "name": "Bob", "note": "note", "column 4": "extra"},
        {"id": "8", "name": "Cid"},
        {"id": "9", "name": "Dan", "note": large},
    ]
    assert [document.notes for document in documents] == [
        (),
        (
            "row 2: 4 cell(s) under a header of 3; all are kept",
            "row 2: id '7' is also that of row 1; both are kept",
        ),
        ("row 3: 2 cell(s) under a header of 3; all are kept",),
        (),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str, tmp_path: Path) -> None:
    """What parts the header and fits the records counts, whatever else stands in the cells."""
    rows = [["name", "price"], ["Ada, L.; x|y\tz", "1,5"], ["Bob", "2,5"]]
    table = io.StringIO()
    csv.writer(table, delimiter=delimiter).writerows(rows)

    documents = read_table(tmp_path, table.getvalue())

    assert [list(document.metadata.values()) for document in documents] == rows[1:]


def test_decimal_commas_are_no_delimiter(tmp_path: Path) -> None:
    """Commas in every record do not outvote the delimiter of the header."""
    (document,) = read_table(tmp_path, "a;b;c\n1,5;2,5;3,5\n")

    assert document.metadata == {"a": "1,5", "b": "2,5", "c": "3,5"}


def test_a_header_without_delimiter_is_one_column(tmp_path: Path) -> None:
    """Sentences under one heading are not cut at their commas."""
    documents = read_table(tmp_path, "note\nHello, world; again\nBye | now\n")

    assert [document.text for document in documents] == [
        "note: Hello, world; again",
        "note: Bye | now",
    ]


def test_a_line_that_names_the_delimiter_is_believed(tmp_path: Path) -> None:
    """The first line that spreadsheets write is no header."""
    (document,) = read_table(tmp_path, "sep=;\r\na,b;c\r\n1;2\r\n")

    assert document.metadata == {"a,b": "1", "c": "2"}


def test_every_column_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Columns without or with equal names do not overwrite one another."""
    (document,) = read_table(tmp_path, "a,,a,a (2),a\n1,2,3,4,5\n")

    assert list(document.metadata.values()) == ["1", "2", "3", "4", "5"]
    assert list(document.metadata)[:3] == ["a", "column 2", "a (2)"]


def test_a_quote_that_is_never_closed_is_noted(tmp_path: Path) -> None:
    """The rest of the file is kept as one cell, and the note says where it began."""
    (document,) = read_table(tmp_path, 'a,b\n1,"open\n2,3\n')

    assert document.metadata == {"a": "1", "b": "open\n2,3"}
    assert document.notes == (
        "line 2: a quoted cell is never closed; it holds the rest of the file",
    )


def test_quotes_inside_a_cell_are_characters(tmp_path: Path) -> None:
    """Inches do not open a quoted cell; blanks before a quote do not hide it."""
    (document,) = read_table(tmp_path, 'a,b,c\n5" pipe, "x, y" , "z"w\n')

    assert document.metadata == {"a": '5" pipe', "b": "x, y", "c": "zw"}


@pytest.mark.parametrize("text", ["a,b\n", "a,b\n,\n , \n", "a"])
def test_a_table_without_records_has_no_text(text: str, tmp_path: Path) -> None:
    """A header alone is nothing to index."""
    with pytest.raises(ReadError, match="no text: a table without a record"):
        read_table(tmp_path, text)


CELL = st.text(st.sampled_from('ab,;"\n |é'), max_size=6).map(lambda cell: f"x{cell}x")


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_what_the_standard_writer_writes_is_read_back(
    rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cells with delimiters, quotes and newlines in them arrive as they were written."""
    table = io.StringIO()
    csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([["p", "q"], *rows])

    documents = read_table(tmp_path_factory.mktemp("table"), table.getvalue())

    assert [[document.metadata["p"], document.metadata["q"]] for document in documents] == rows
