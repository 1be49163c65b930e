"""CSV and TSV: a record is a document; what separates cells is found out, not asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from holodeck.errors import ReadError
from holodeck.lib.documents import Document
from holodeck.lib.readers.decoding import read_text
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.records import Record, record_documents

__all__ = ["column_names", "read", "record_of"]

_DELIMITERS = (",", ";", "\t", "|")
# Text holds no NUL, so this parts nothing.
_ONE_COLUMN = "\0"
_SAMPLED_ROWS = 100
# Excel's own way to say what separates cells.
_DELIMITER_LINE = re.compile(r"sep=([,;\t|])\n", re.IGNORECASE)


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return a document for each record below the header.

    Records with more or fewer cells than the header are kept and noted by their number.
    """
    text, notes = read_text(file, options)
    told = _DELIMITER_LINE.match(text)
    if told:
        text = text[told.end() :]
    delimiter = options.delimiter or (told[1] if told else _find_delimiter(text))
    parser = _Parser(text, delimiter)
    rows = (row for row in parser.rows() if any(row))
    header = column_names(next(rows, []))
    records = [record_of(number, header, row) for number, row in enumerate(rows, start=1)]
    if parser.open_quote is not None:
        notes += (
            f"line {parser.open_quote}: a quoted cell is never closed; it holds the rest of the "
            "file",
        )
    names = [*header, *(name for record in records for name in record.fields)]
    documents = record_documents(records, path, options, notes=notes, names=names)
    if not documents:
        raise ReadError("no text: a table without a record below its header")
    return documents


def column_names(cells: Sequence[str]) -> list[str]:
    """Return the header with a name for every column, each once."""
    names: list[str] = []
    counts: Counter[str] = Counter()
    for number, cell in enumerate(cells, start=1):
        name = " ".join(cell.split()) or f"column {number}"
        counts[name] += 1
        while name in names:
            name = f"{' '.join(cell.split())} ({counts[name]})"
            counts[name] += 1
        names.append(name)
    return names


def record_of(number: int, header: Sequence[str], row: Sequence[str]) -> Record:
    """Return a record with every cell under its name, and a note where their numbers differ."""
    notes: tuple[str, ...] = ()
    if len(row) != len(header):
        notes = (f"row {number}: {len(row)} cell(s) under a header of {len(header)}; all are kept",)
    names = [*header, *(f"column {column}" for column in range(len(header) + 1, len(row) + 1))]
    fields = {name: cell for name, cell in zip(names, row, strict=False) if cell}
    return Record(row=number, fields=fields, notes=notes)


def _find_delimiter(text: str) -> str:
    """Return the delimiter that gives most records as many cells as the header.

    One that does not stand in the header is none; of equals the one with more columns counts.
    A header without any is a table of one column.
    """
    best, best_score = _ONE_COLUMN, (0.0, 1)
    for delimiter in _DELIMITERS:
        rows = [row for row in islice(_Parser(text, delimiter).rows(), _SAMPLED_ROWS) if any(row)]
        width = len(rows[0]) if rows else 0
        alike = sum(len(row) == width for row in rows) / max(len(rows), 1)
        if width > 1 and (alike, width) > best_score:
            best, best_score = delimiter, (alike, width)
    return best


class _Parser:
    """Cells of a table.

    The standard library's parser refuses large cells unless a limit of the whole process is
    raised, and takes an unclosed quote in silence.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        # A tab is a delimiter, so blanks before a quote are spaces only.
        self._quoted = re.compile(r' *"([^"]*(?:""[^"]*)*)("?)')
        self._plain = re.compile(f"[^{re.escape(delimiter)}\n]*")
        self.open_quote: int | None = None

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of each line, stripped; a blank line is one empty cell."""
        position, end, row = 0, len(self._text), list[str]()
        while position < end:
            cell, position = self._cell(position)
            row.append(cell.strip())
            if position >= end or self._text[position] == "\n":
                yield row
                row = []
            position += 1
        if row:
            yield [*row, ""]

    def _cell(self, position: int) -> tuple[str, int]:
        start = position
        cell = ""
        quoted = self._quoted.match(self._text, position)
        if quoted:
            cell = quoted[1].replace('""', '"')
            position = quoted.end()
            if not quoted[2]:
                self.open_quote = self._text.count("\n", 0, start) + 1
        rest = self._plain.match(self._text, position)
        if rest:
            cell += rest[0]
            position = rest.end()
        return cell, position
