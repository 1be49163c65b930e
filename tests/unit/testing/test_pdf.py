"""The written PDF is one that readers read."""

from __future__ import annotations

from pathlib import Path

from holodeck.lib.documents import Place
from holodeck.lib.readers.source import ReadOptions, read_source
from holodeck.testing.pdf import write_pdf


def test_each_line_is_a_page(tmp_path: Path) -> None:
    """The lines come back, each with its page, and nothing had to be tolerated."""
    write_pdf(tmp_path / "a.pdf", ["First line.", "Second line."])

    reading = read_source(tmp_path, ReadOptions())

    assert [(doc.place, doc.text.strip()) for doc in reading.documents] == [
        (Place(path="a.pdf", page=1), "First line."),
        (Place(path="a.pdf", page=2), "Second line."),
    ]
    assert (reading.notes, reading.skipped) == ((), ())
