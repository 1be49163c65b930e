"""The contract of all readers: a row of the table without a sample here fails."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import ReadError
from holodeck.lib.documents import Document
from holodeck.lib.extras import EXTRAS
from holodeck.lib.imports import load_object
from holodeck.lib.readers import READERS
from holodeck.lib.readers.options import ReadOptions

pytestmark = pytest.mark.unit

FACT = "Bob founded Orion in 1999"

# Ending → a file of that type which says FACT, as text; types that are not are written by fixtures.
SAMPLES: dict[str, str | None] = {
    ".csv": f"id,note\r\n1,{FACT}\r\n2,\ufeffÄ\r\n",
    ".docx": None,
    ".htm": f"<html><body><p>{FACT}</p>\ufeff</body></html>",
    ".html": f"<html><head><title>Orion</title></head><body><p>{FACT}</p>\r\n</body></html>",
    ".json": f'[{{"id": 1, "note": "{FACT}"}}, {{"id": 2, "note": "\\u0000\\ufeff\\ud800"}}]',
    ".jsonl": f'{{"note": "{FACT}"}}\r\n{{"note": "\\u0000\\ufeff\\ud800 x"}}',
    ".log": f"1999-01-01 {FACT}\r\n\ufeff",
    ".markdown": f"# Orion\r\n\r\n{FACT}\r\n\ufeff",
    ".md": f"# Orion\r\n\r\n{FACT}\r\n\ufeff",
    ".ndjson": f'{{"note": "{FACT}"}}\r\n{{"note": "\\u0000\\ufeff\\ud800 x"}}',
    ".pdf": None,
    ".pptx": None,
    ".text": f"{FACT}\r\n\ufeff삼성 🚀",
    ".tsv": f"id\tnote\r\n1\t{FACT}\r\n2\t\ufeffÄ\r\n",
    ".txt": f"{FACT}\r\n\ufeff삼성 🚀",
    ".xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{FACT}</p></body></html>',
    ".xlsx": None,
}

MakeSample = Callable[[str], Path]


@pytest.fixture
def make_sample(
    tmp_path: Path, make_pdf: Any, make_docx: Any, make_pptx: Any, make_xlsx: Any
) -> MakeSample:  # Any: see conftest
    """Write the sample of an ending."""

    def make(ending: str) -> Path:
        sample = SAMPLES[ending]
        file = tmp_path / f"sample{ending}"
        if ending == ".pdf":
            make_pdf(file, [FACT, "", "Second"])
        elif ending == ".docx":
            make_docx(file, f"<w:p><w:r><w:t>{FACT}\ufeff</w:t><w:br/></w:r></w:p>")
        elif ending == ".pptx":
            make_pptx(file, [FACT, "", "Second\x0b"])
        elif ending == ".xlsx":
            make_xlsx(file, [["id", "note"], [1, FACT], [2, "\ufeffÄ"]])
        elif sample is None:
            pytest.fail(f"nothing writes a sample of {ending}")
        else:
            file.write_bytes(sample.encode("utf-8"))
        return file

    return make


def read(file: Path, options: ReadOptions | None = None) -> Sequence[Document]:
    """Read a file by its row of the table."""
    function = load_object(READERS[file.suffix].function)
    documents: Sequence[Document] = function(file, "b/the name", options or ReadOptions())
    return documents


@pytest.mark.parametrize("ending", READERS)
def test_documents_are_text_and_nothing_else(ending: str, make_sample: MakeSample) -> None:
    """The fact is found, and no text holds a NUL, a byte order mark, a CR or half a pair."""
    texts = [document.text for document in read(make_sample(ending))]

    assert any(FACT in text for text in texts)
    for text in texts:
        assert text.strip()
        assert text.encode("utf-8")
        assert not set(text) & {"\0", "\ufeff", "\r"}
        assert "%PDF-" not in text


@pytest.mark.parametrize("ending", READERS)
def test_places_carry_the_given_path_in_order(ending: str, make_sample: MakeSample) -> None:
    """Every place has the path that the reader was given; pages and rows count up from 1."""
    places = [document.place for document in read(make_sample(ending))]

    assert {place.path for place in places} == {"b/the name"}
    numbers = [(place.page or 0, place.row or 0) for place in places]
    assert numbers == sorted(set(numbers))
    assert len(places) == 1 or numbers[0] in {(1, 0), (0, 1)}


@pytest.mark.parametrize("ending", READERS)
def test_reading_twice_gives_the_same(ending: str, make_sample: MakeSample) -> None:
    """Documents depend on the file alone."""
    file = make_sample(ending)

    assert read(file) == read(file)


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize(
    "content",
    [b"", b" \n\t \xe3\x80\x80", b"\x00\x01\x02\x03\xff" * 40, b"PK\x03\x04" + bytes(196)],
    ids=["empty", "blank", "binary", "zip"],
)
def test_what_holds_no_text_is_a_read_error(ending: str, content: bytes, tmp_path: Path) -> None:
    """Empty, blank and binary files are refused with a reason, whatever their ending says."""
    file = tmp_path / f"bad{ending}"
    file.write_bytes(content)

    with pytest.raises(ReadError) as refusal:
        read(file)

    assert len(str(refusal.value)) > 10


@pytest.mark.parametrize("ending", READERS)
def test_a_file_that_cannot_be_opened_is_a_read_error(ending: str, tmp_path: Path) -> None:
    """A file that went away meanwhile is refused with the system's reason."""
    with pytest.raises(ReadError, match="cannot be opened: No such file"):
        read(tmp_path / f"gone{ending}")


def test_rows_are_well_formed() -> None:
    """Endings are in lower case with their dot, and extras are known ones."""
    for ending, reader in READERS.items():
        assert ending == ending.lower()
        assert ending.startswith(".")
        assert reader.extra is None or reader.extra in EXTRAS


def test_every_sample_has_a_row() -> None:
    """The table and the samples name the same types."""
    assert set(SAMPLES) == set(READERS)


@pytest.mark.integration
def test_the_table_imports_no_reader() -> None:
    """A reader is imported when a file needs it: the table is reached by every command."""
    code = (
        "import sys, holodeck.lib.readers.source\n"
        "print(sorted(name for name in sys.modules if name in "
        "('pypdf', 'holodeck.lib.readers.pdf', 'holodeck.lib.readers.tables', 'numpy')))"
    )

    child = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert child.stdout.strip() == "[]"
