"""A source as a whole: what is read, what is skipped and why, and when its hash changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import ReadError, SourceNotFoundError
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.readers import READERS, Reader
from holodeck.lib.readers.source import ReadOptions, SourceReading, read_source, source_hash

pytestmark = pytest.mark.unit

OPTIONS = ReadOptions()

# Reads the folder that is its argument as if one package were not installed.
WITHOUT_PYPDF = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "pypdf" else super().find_spec(name, path, target)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
from holodeck.lib.readers.source import ReadOptions, read_source

reading = read_source(Path(sys.argv[1]), ReadOptions())
print(*reading.files)
print(*reading.skipped, sep="\\n")
"""


def run_python(arguments: list[str], **environment: str) -> str:
    """Run a child with this checkout on its path; return what it prints."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def reasons(reading: SourceReading) -> dict[str, str]:
    """What was skipped, with the reasons."""
    return {file.path: file.reason for file in reading.skipped}


def test_good_files_are_read_whatever_lies_beside_them(tmp_path: Path, make_pdf: Any) -> None:
    """Empty, broken, foreign and locked files are listed with reasons and stop nothing."""
    (tmp_path / "good.txt").write_text("Ada leads.", encoding="utf-8")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "blank.md").write_text("\n\t \u3000", encoding="utf-8")
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04" + bytes(196))
    (tmp_path / "LICENSE").write_text("free", encoding="utf-8")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / "x.txt").mkdir()
    make_pdf(tmp_path / "scan.pdf", [""])
    make_pdf(tmp_path / "locked.pdf", ["Bob"], password="secret")

    reading = read_source(tmp_path, OPTIONS)

    assert [document.text for document in reading.documents] == ["Ada leads."]
    assert reading.files == ("good.txt",)
    assert reasons(reading) == {
        "LICENSE": "no reader for a file without an ending",
        "blank.md": "no text: it is empty or blank",
        "broken.docx": "not a readable Word document: File is not a zip file",
        "photo.png": "no reader for .png",
        "empty.txt": "no text: it is empty or blank",
        "locked.pdf": "locked by a password: no extractable text",
        "scan.pdf": "no extractable text (a scan?)",
    }


def test_a_source_without_text_is_an_empty_reading(tmp_path: Path) -> None:
    """Only blank files, or none at all, is no error: there is nothing, and the reason."""
    (tmp_path / "empty.txt").write_bytes(b"")

    reading = read_source(tmp_path, OPTIONS)

    assert (reading.documents, reading.files, list(reasons(reading))) == ((), (), ["empty.txt"])


def test_only_a_missing_source_is_an_error(tmp_path: Path) -> None:
    """Neither reading nor hashing takes a source that is not there for an empty one."""
    for ask in (read_source, source_hash):
        with pytest.raises(SourceNotFoundError, match="Source path not found"):
            ask(tmp_path / "nowhere", OPTIONS)


def test_documents_come_by_path_then_page_and_row(tmp_path: Path, make_pdf: Any) -> None:
    """The order is that of paths, then of pages or records, and endings may be in capitals."""
    (tmp_path / "b.csv").write_text("id\n" + "\n".join(map(str, range(12))), encoding="utf-8")
    (tmp_path / "C.TXT").write_text("Ada", encoding="utf-8")
    make_pdf(tmp_path / "a.pdf", ["One", "Two"])

    places = [str(document.place) for document in read_source(tmp_path, OPTIONS).documents]

    assert places == [
        "C.TXT",
        "a.pdf, page 1",
        "a.pdf, page 2",
        *(f"b.csv, row {row}" for row in range(1, 13)),
    ]


def test_notes_name_their_file_and_are_bounded(tmp_path: Path) -> None:
    """What was tolerated is told with the file's name, twenty times a file at most."""
    (tmp_path / "a.txt").write_bytes("Café".encode("cp1252"))
    (tmp_path / "b.csv").write_text("a;b\n" + "1\n" * 30, encoding="utf-8")

    notes = read_source(tmp_path, OPTIONS).notes

    assert notes[0] == "a.txt: decoded as cp1252"
    assert notes[1] == "b.csv: row 1: 1 cell(s) under a header of 2; all are kept"
    assert notes[21:] == ("b.csv: and 10 more notes",)


def test_strict_lists_every_skipped_file(tmp_path: Path) -> None:
    """With strict, what would be skipped is one error that names all of it."""
    (tmp_path / "good.txt").write_text("Ada", encoding="utf-8")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "a.docx").write_bytes(b"PK")
    (tmp_path / "dead.txt").symlink_to("nowhere")

    with pytest.raises(ReadError) as refusal:
        read_source(tmp_path, ReadOptions(strict=True))

    listed = str(refusal.value).splitlines()
    assert listed[0].startswith("3 file(s) of ")
    assert [line.strip().split(":")[0] for line in listed[1:]] == [
        "a.docx",
        "dead.txt",
        "empty.txt",
    ]


def test_strict_accepts_a_source_without_losses(tmp_path: Path) -> None:
    """Strict is no obstacle to a clean source; hidden files and copies by link are no losses."""
    (tmp_path / "a.txt").write_text("Ada", encoding="utf-8")
    (tmp_path / ".hidden").write_bytes(b"\0")
    (tmp_path / "copy.txt").symlink_to("a.txt")

    assert read_source(tmp_path, ReadOptions(strict=True)).files == ("a.txt",)


@pytest.mark.integration
def test_a_missing_extra_is_named_for_each_file_that_needs_it(tmp_path: Path) -> None:
    """A file whose extra is not installed is skipped with the way to install it."""
    (tmp_path / "a.txt").write_text("Ada", encoding="utf-8")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-")
    (tmp_path / "read.py").write_text(WITHOUT_PYPDF, encoding="utf-8")

    child = run_python([str(tmp_path / "read.py"), str(tmp_path)])

    files, *skipped = child.splitlines()
    assert files == "a.txt"
    assert skipped == [
        "a.pdf: reading .pdf needs an extra: pip install 'holodeck[documents]' (in a checkout: "
        "pip install -e '.[documents]')",
        "read.py: no reader for .py",
    ]


def test_a_slow_reader_is_skipped_and_a_new_type_is_one_file_and_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that does not end costs its file alone, and the reason names the setting."""
    (tmp_path / "slow_reader.py").write_text(
        "from threading import Event\n"
        "release = Event()\n"
        "def read(file, path, options):\n"
        "    release.wait()\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.slow").write_bytes(b"x")
    readers = {**READERS, ".slow": Reader("slow_reader:read")}

    reading = read_source(tmp_path / "docs", ReadOptions(file_timeout=0.05), readers=readers)

    sys.modules["slow_reader"].release.set()
    assert reasons(reading) == {
        "a.slow": "reading it took more than 0.05 s: raise execution.file_timeout, or split the "
        "file"
    }


def test_a_reader_that_fails_costs_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that no reader should raise is listed with its type, and the others are read."""
    (tmp_path / "bad_reader.py").write_text(
        "def read(file, path, options):\n    return {}['lost']\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.bad").write_bytes(b"x")
    (tmp_path / "docs" / "b.txt").write_bytes(b"Ada")
    readers = {**READERS, ".bad": Reader("bad_reader:read")}

    reading = read_source(tmp_path / "docs", OPTIONS, readers=readers)

    assert reading.files == ("b.txt",)
    assert reasons(reading) == {"a.bad": "its reader failed: KeyError: 'lost'"}


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
def test_a_file_that_cannot_be_opened_is_skipped(tmp_path: Path) -> None:
    """What the system refuses to read is listed, and hashing it does not fail."""
    (tmp_path / "good.txt").write_text("Ada", encoding="utf-8")
    (tmp_path / "bad.txt").symlink_to("/proc/self/mem")

    reading = read_source(tmp_path, ReadOptions(allow_external_links=True))

    assert reading.files == ("good.txt",)
    assert reasons(reading)["bad.txt"].startswith("it cannot be opened: ")


# --- the hash ---------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of two documents and a file without a reader."""
    root = tmp_path / "docs"
    (root / "b").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"Ada")
    (root / "b" / "c.md").write_bytes(b"Bob")
    (root / "photo.png").write_bytes(b"\x89PNG")
    return root


def test_a_touch_or_a_copy_keeps_the_hash(source: Path, tmp_path: Path) -> None:
    """Times and places do not count: only relative paths and bytes."""
    before = source_hash(source, OPTIONS)
    os.utime(source / "a.txt", (1, 1))
    copy = shutil.copytree(source, tmp_path / "elsewhere")

    assert source_hash(source, OPTIONS) == source_hash(copy, OPTIONS) == before
    assert read_source(source, OPTIONS).source_hash == before
    assert len(before) == 64


def test_what_is_not_read_keeps_the_hash(source: Path) -> None:
    """Hidden and temporary files, own folders, links to the same and other types do not count."""
    before = source_hash(source, OPTIONS)
    (source / ".hidden.txt").write_bytes(b"x")
    (source / "a.txt~").write_bytes(b"x")
    (source / "photo.png").write_bytes(b"x")
    (source / "copy.txt").symlink_to("a.txt")
    (source / "index").mkdir()
    (source / "index" / OWN_FOLDER_MARK).write_bytes(b"")
    (source / "index" / "d.txt").write_bytes(b"x")

    assert source_hash(source, OPTIONS) == before


def test_a_same_size_edit_changes_the_hash(source: Path) -> None:
    """An edit is seen although size and time are the same."""
    before = source_hash(source, OPTIONS)
    times = (source / "a.txt").stat()
    (source / "a.txt").write_bytes(b"Eva")
    os.utime(source / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))

    assert source_hash(source, OPTIONS) != before


def test_every_change_of_the_files_changes_the_hash(source: Path) -> None:
    """Adding, renaming, swapping and deleting are all seen."""
    hashes = [source_hash(source, OPTIONS)]
    (source / "d.txt").write_bytes(b"")
    hashes.append(source_hash(source, OPTIONS))
    (source / "d.txt").rename(source / "e.txt")
    hashes.append(source_hash(source, OPTIONS))
    (source / "a.txt").write_bytes(b"Bob")
    (source / "b" / "c.md").write_bytes(b"Ada")
    hashes.append(source_hash(source, OPTIONS))
    (source / "a.txt").unlink()
    hashes.append(source_hash(source, OPTIONS))

    assert len(set(hashes)) == 5


def test_a_link_that_leaves_counts_where_it_is_followed(source: Path, tmp_path: Path) -> None:
    """The hash covers what the options make part of the source."""
    before = source_hash(source, OPTIONS)
    (tmp_path / "out.txt").write_bytes(b"x")
    (source / "out.txt").symlink_to(tmp_path / "out.txt")

    assert source_hash(source, OPTIONS) == before
    assert source_hash(source, ReadOptions(allow_external_links=True)) != before


@pytest.mark.integration
def test_an_ascii_locale_reads_the_same(tmp_path: Path) -> None:
    """Names and texts in any script are the same whatever locale the process runs under."""
    root = tmp_path / "문서"
    root.mkdir()
    (root / "삼성.txt").write_text("삼성 met \ufeff🚀 in 1999", encoding="utf-8")
    (root / "é.csv").write_text("이름;메모\n밥;오리온\n", encoding="utf-8")
    code = (
        "import json, os, sys\n"
        "from pathlib import Path\n"
        "from holodeck.lib.readers.source import *\n"
        "root = Path(os.fsencode(sys.argv[1]).decode('utf-8'))\n"
        "reading = read_source(root, ReadOptions())\n"
        "print(json.dumps([reading.source_hash, reading.files,"
        " [[str(d.place), d.text, dict(d.metadata)] for d in reading.documents]]))\n"
    )

    plain = run_python(["-c", code, str(root)], PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C")

    reading = read_source(root, OPTIONS)
    assert json.loads(plain) == [
        reading.source_hash,
        ["é.csv", "삼성.txt"],
        [
            ["é.csv, row 1", "이름: 밥\n메모: 오리온", {"이름": "밥", "메모": "오리온"}],
            ["삼성.txt", "삼성 met 🚀 in 1999", {}],
        ],
    ]
