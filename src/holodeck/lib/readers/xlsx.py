"""Excel workbooks (.xlsx): a row below a sheet's header is a document, as in a CSV file."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

from openpyxl import load_workbook

from holodeck.errors import ReadError
from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.archives import office_bytes, tag_of
from holodeck.lib.readers.decoding import clean_text
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.records import Record, record_documents, with_notes
from holodeck.lib.readers.tables import column_names, record_of

__all__ = ["read"]

_KIND = "Excel workbook"
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")


def read(file: Path, path: str, options: ReadOptions) -> list[Document]:
    """Return a document for each row of each sheet; a formula counts as the value last shown."""
    content = office_bytes(file, _KIND, "xl/workbook.xml")
    try:
        with warnings.catch_warnings():
            # It warns of what it does not need: styles, validations, pictures.
            warnings.simplefilter("ignore")
            book = load_workbook(content, read_only=True, data_only=True)
            sheets = [
                (number, sheet.title, list(_rows(sheet)))
                for number, sheet in enumerate(book.worksheets, start=1)
            ]
            book.close()
        notes = _notes(content)
    except Exception as error:  # a broken file raises whatever the library stumbles over
        raise ReadError(f"not a readable {_KIND}: {error or type(error).__name__}") from error
    documents = [
        replace(
            each,
            place=Place(path=path, page=number if len(sheets) > 1 else None, row=each.place.row),
            metadata={**each.metadata, "sheet": title},
        )
        for number, title, rows in sheets
        for each in _sheet_documents(rows, path, options)
    ]
    if not documents:
        raise ReadError("; ".join(["no text: no sheet has a row below its header", *notes]))
    return with_notes(documents, notes)


def _notes(content: BytesIO) -> tuple[str, ...]:
    """Return a note on the formulas whose value nobody has computed yet; none: all have one."""
    with ZipFile(content) as archive:
        sheets = (archive.read(name) for name in archive.namelist() if _SHEET.fullmatch(name))
        count = sum(_without_value(sheet) for sheet in sheets if _FORMULA.search(sheet))
    if not count:
        return ()
    subject = "1 formula holds" if count == 1 else f"{count} formulas hold"
    return (
        f"{subject} no value and cannot be read: the file was never calculated; open and save it "
        "in a spreadsheet program",
    )


def _without_value(sheet: bytes) -> int:
    count = 0
    for _, element in ET.iterparse(BytesIO(sheet)):  # noqa: S314  # the guard lets no entity pass
        tag = tag_of(element)
        if tag == "c":
            inner = {tag_of(child): child for child in element}
            # An empty value of a string is one that was computed: a formula may yield "".
            computed = "v" in inner and (element.get("t") == "str" or inner["v"].text)
            count += "f" in inner and not computed
        elif tag == "row":
            element.clear()  # a sheet may be long
    return count


def _sheet_documents(rows: Sequence[list[str]], path: str, options: ReadOptions) -> list[Document]:
    if not rows:
        return []
    header = column_names(_trimmed(rows[0]))
    records: list[Record] = [
        record_of(number, header, _trimmed(row, len(header)))
        for number, row in enumerate(rows[1:], start=1)
    ]
    names = [*header, *(name for record in records for name in record.fields)]
    return record_documents(records, path, options, names=names)


def _rows(sheet: Any) -> Iterator[list[str]]:  # Any: openpyxl has no types
    # What a file says of its size is often wrong, and every row would be filled up to its width.
    sheet.reset_dimensions()
    for row in sheet.iter_rows(values_only=True):
        cells = [_text(cell) for cell in row]
        if any(cells):
            yield cells


def _trimmed(cells: Sequence[str], least: int = 0) -> list[str]:
    """Return the cells without the empty ones at the end: a sheet is as wide as its widest row."""
    width = max((number for number, cell in enumerate(cells, start=1) if cell), default=0)
    return list(cells[: max(width, least)])


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return clean_text(str(cell)).strip()
