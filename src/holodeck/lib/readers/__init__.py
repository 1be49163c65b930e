"""One file a type: what each ending is read by.

A reader is a function of this form. It gives the documents of one file in their order, and raises
``ReadError`` with the reason when there are none to give:

    def read(file: Path, path: str, options: ReadOptions) -> list[Document]

``file`` is where to open it, ``path`` the name that every ``Place`` gets. To add a type, write the
function in a file of its own and name it below. ``rst.py``, for example, would be:

    def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
        text, notes = read_text(file, options)          # decoded and cleaned: decoding.py
        return [Document(place=Place(path=path), text=without_markup(text), notes=notes)]

with the row ``".rst": Reader("holodeck.lib.readers.rst:read")``, and a sample of the type in
``tests/unit/lib/readers/test_readers_contract.py``: that test fails until there is one. Text from
anywhere but ``read_text`` goes through ``clean_text``. Modules named here are imported when a file
needs them; a package that only one reader needs belongs to an extra (``lib/extras.py``), which the
row names.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["READERS", "READERS_VERSION", "Reader"]

READERS_VERSION: int = 3
"""Raised when a file gives other documents than before; part of every config hash."""


class Reader(NamedTuple):
    """A row of the table.

    Attributes:
        function: ``module:function``.
        extra: The extra that brings the packages it needs.
        has_records: Whether a file of the type is a list of records, whose fields YAML may name.
        heeds: The setting of reading that counts for it and not for every type.
    """

    function: str
    extra: str | None = None
    has_records: bool = False
    heeds: Literal["delimiter", "record_path"] | None = None


_TEXT = Reader("holodeck.lib.readers.text:read")
_TABLE = Reader("holodeck.lib.readers.tables:read", has_records=True, heeds="delimiter")
_HTML = Reader("holodeck.lib.readers.html:read", extra="documents")
_JSON_LINES = Reader("holodeck.lib.readers.json_records:read_lines", has_records=True)

READERS: dict[str, Reader] = {
    ".csv": _TABLE,
    ".docx": Reader("holodeck.lib.readers.docx:read"),
    ".htm": _HTML,
    ".html": _HTML,
    ".json": Reader(
        "holodeck.lib.readers.json_records:read", has_records=True, heeds="record_path"
    ),
    ".jsonl": _JSON_LINES,
    ".log": _TEXT,
    ".markdown": _TEXT,
    ".md": _TEXT,
    ".ndjson": _JSON_LINES,
    ".pdf": Reader("holodeck.lib.readers.pdf:read", extra="documents"),
    ".pptx": Reader("holodeck.lib.readers.pptx:read", extra="documents"),
    ".text": _TEXT,
    ".tsv": _TABLE,
    ".txt": _TEXT,
    ".xhtml": _HTML,
    ".xlsx": Reader("holodeck.lib.readers.xlsx:read", extra="documents", has_records=True),
}
"""Ending, in lower case → its reader. Both engines read the same types."""
