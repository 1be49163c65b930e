"""PDF: pages with text are documents; scans and locked files are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.pdf import read

pytestmark = pytest.mark.unit

OPTIONS = ReadOptions()


def test_pages_with_text_are_documents(tmp_path: Path, make_pdf: Any) -> None:
    """Pages keep their number; one without text is no document, and is noted."""
    file = make_pdf(tmp_path / "real.pdf", ["Bob founded Orion in 1999", "", "Ada joined"])

    assert read(file, "real.pdf", OPTIONS) == [
        Document(
            place=Place(path="real.pdf", page=1),
            text="Bob founded Orion in 1999",
            notes=("no text on page(s) 2: blank or scanned",),
        ),
        Document(place=Place(path="real.pdf", page=3), text="Ada joined"),
    ]


def test_a_scan_is_refused(tmp_path: Path, make_pdf: Any) -> None:
    """A file of pictures does not count as read."""
    file = make_pdf(tmp_path / "scan.pdf", ["", ""])

    with pytest.raises(ReadError, match=r"^no extractable text \(a scan\?\)$"):
        read(file, "scan.pdf", OPTIONS)


def test_a_locked_file_is_refused(tmp_path: Path, make_pdf: Any) -> None:
    """A file that needs a password says so."""
    file = make_pdf(tmp_path / "locked.pdf", ["Bob founded Orion"], password="secret")

    with pytest.raises(ReadError, match="locked by a password: no extractable text"):
        read(file, "locked.pdf", OPTIONS)


def test_a_file_that_only_forbids_printing_is_read(tmp_path: Path, make_pdf: Any) -> None:
    """An empty user password opens, as it does in every viewer."""
    file = make_pdf(tmp_path / "a.pdf", ["Bob founded Orion"], password="")

    assert [document.text for document in read(file, "a.pdf", OPTIONS)] == ["Bob founded Orion"]


@pytest.mark.parametrize("length", [0, 8, 200, 500])
def test_a_cut_off_file_is_refused_or_mended(length: int, tmp_path: Path, make_pdf: Any) -> None:
    """A download that stopped halfway is a reason, never a crash or an empty success."""
    file = make_pdf(tmp_path / "a.pdf", ["Bob founded Orion"])
    file.write_bytes(file.read_bytes()[:length])

    with pytest.raises(ReadError, match=r"not a readable PDF|no extractable text"):
        read(file, "a.pdf", OPTIONS)


def test_a_page_that_breaks_is_noted_and_the_others_are_read(tmp_path: Path, make_pdf: Any) -> None:
    """One broken page does not lose the file."""
    file = make_pdf(tmp_path / "a.pdf", ["Bob founded Orion", "Ada joined"])
    content = file.read_bytes()
    head, mark, tail = content.rpartition(b"<< /Length")
    file.write_bytes(head + b"<< /Filter /NoSuchFilter /Length" + tail)

    (document,) = read(file, "a.pdf", OPTIONS)

    assert (mark, document.place.page) == (b"<< /Length", 1)
    assert [note.split(":")[0] for note in document.notes] == ["page 2 could not be read"]


def test_oddities_make_no_noise(
    tmp_path: Path, make_pdf: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """What the library mends on its own is not logged by the hundred."""
    file = make_pdf(tmp_path / "a.pdf", ["Bob founded Orion"])
    content = file.read_bytes()
    file.write_bytes(b"junk\n" + content.replace(b"startxref\n", b"startxref\n9"))

    documents = read(file, "a.pdf", OPTIONS)

    assert [document.text for document in documents] == ["Bob founded Orion"]
    assert caplog.records == []
