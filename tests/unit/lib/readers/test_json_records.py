"""JSON: an item of a list is a document; anything else is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.json_records import read, read_lines
from holodeck.lib.readers.options import ReadOptions

pytestmark = pytest.mark.unit


def read_json(folder: Path, text: str) -> list[Document]:
    """Read a JSON file of this text."""
    file = folder / "a.json"
    file.write_text(text, encoding="utf-8")
    return read(file, "a.json", ReadOptions())


def read_json_lines(folder: Path, text: str) -> list[Document]:
    """Read a file of JSON lines of this text."""
    file = folder / "a.jsonl"
    file.write_text(text, encoding="utf-8")
    return read_lines(file, "a.jsonl", ReadOptions())


def test_items_of_a_list_are_documents(tmp_path: Path) -> None:
    """Each object is a record of ``name: value`` lines, nested ones with dotted names."""
    documents = read_json(
        tmp_path,
        '[{"id": 7, "who": {"name": "Ada", "tags": ["a", "b"]}, "none": null},'
        ' {"ok": true, "parts": [{"n": 1.50}, {"n": 1e400}]}]',
    )

    assert documents == [
        Document(
            place=Place(path="a.json", row=1),
            text="id: 7\nwho.name: Ada\nwho.tags: a, b",
            metadata={"id": "7", "who.name": "Ada", "who.tags": "a, b"},
        ),
        Document(
            place=Place(path="a.json", row=2),
            text="ok: true\nparts.1.n: 1.50\nparts.2.n: 1e400",
            metadata={"ok": "true", "parts.1.n": "1.50", "parts.2.n": "1e400"},
        ),
    ]


def test_an_object_at_the_top_is_one_document(tmp_path: Path) -> None:
    """What is no list is one document without a row."""
    (document,) = read_json(tmp_path, '{"title": "Orion", "staff": [{"name": "Bob"}]}')

    assert document.place == Place(path="a.json")
    assert document.text == "title: Orion\nstaff.1.name: Bob"


def test_plain_values_are_their_own_text(tmp_path: Path) -> None:
    """A list of strings is a list of texts; rows count positions, blanks included."""
    documents = read_json(tmp_path, '["Ada\\r\\nleads", null, " ", 3, ["x", "y"]]')

    assert [(document.place.row, document.text) for document in documents] == [
        (1, "Ada\nleads"),
        (4, "3"),
        (5, "values: x, y"),
    ]


def test_entries_without_a_value_are_counted(tmp_path: Path) -> None:
    """What is left out is told with its rows, of many the first ten, and nothing else is."""
    one = read_json(tmp_path, '["Ada", null]')
    many = read_json(tmp_path, '["Ada", {}, null' + ", null" * 10 + "]")

    assert one[0].notes == ("row 2: no value; left out",)
    assert many[0].notes == (
        "12 rows hold no value (row 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …); left out",
    )
    assert read_json(tmp_path, '["Ada", "Bob"]')[0].notes == ()


def test_repeated_names_and_ids_overwrite_nothing(tmp_path: Path) -> None:
    """Both values of a name and both records of an id are kept; the id is noted."""
    first, second = read_json(tmp_path, '[{"id": 7, "a": 1, "a": 2}, {"ID": "7", "a": 3}]')

    assert first.text == "id: 7\na: 1\na (2): 2"
    assert second.notes == ("row 2: id '7' is also that of row 1; both are kept",)


def test_a_number_of_any_length_is_kept_as_written(tmp_path: Path) -> None:
    """Digits are text here: no limit of the interpreter, no rounding."""
    (document,) = read_json(tmp_path, '{"n": ' + "9" * 5_000 + "}")

    assert document.text == "n: " + "9" * 5_000


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    """The reason says where it breaks."""
    with pytest.raises(ReadError, match=r"not JSON: .* at line 2, column 6"):
        read_json(tmp_path, '{\n"a": }')


def test_json_lines_under_the_wrong_name_are_told_so(tmp_path: Path) -> None:
    """Several values in a .json file: the reason names the ending they belong in."""
    with pytest.raises(ReadError, match=r"line 2, column 1; one value a line belongs in a \.jsonl"):
        read_json(tmp_path, '{"a": 1}\n{"a": 2}\n')


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_values_that_are_not_json_are_refused(value: str, tmp_path: Path) -> None:
    """Numbers that are none are not taken for text in silence."""
    with pytest.raises(ReadError, match=f"{value} is no value"):
        read_json(tmp_path, f'{{"a": {value}}}')


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """A hundred thousand brackets are a reason, not the end of the process."""
    with pytest.raises(ReadError, match="nested too deeply"):
        read_json(tmp_path, "[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize("text", ["[]", "{}", '{"a": null}', '[{"a": " "}]', "null", '""'])
def test_json_without_values_has_no_text(text: str, tmp_path: Path) -> None:
    """Brackets alone are nothing to index."""
    with pytest.raises(ReadError, match="no text"):
        read_json(tmp_path, text)


def test_lines_are_documents_and_broken_ones_are_noted(tmp_path: Path) -> None:
    """One broken line costs itself alone, and its number is told."""
    text = '{"a": 1}\n\n{"a": \n{"a": "x\u2028y"}\n' + "[" * 100_000 + "\n"

    documents = read_json_lines(tmp_path, text)

    assert [(document.place.row, document.text) for document in documents] == [
        (1, "a: 1"),
        (3, "a: x\u2028y"),
    ]
    assert [note.split(":")[0] for note in documents[0].notes] == [
        "line 3 is left out",
        "line 5 is left out",
    ]


def test_lines_that_are_all_broken_are_refused(tmp_path: Path) -> None:
    """A file without one good line is skipped with what is wrong."""
    with pytest.raises(ReadError, match="line 1 is left out: not JSON"):
        read_json_lines(tmp_path, "name,role\nAda,engineer\n")
