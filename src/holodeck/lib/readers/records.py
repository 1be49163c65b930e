"""What tables and lists share: a record is a document of ``name: value`` lines.

Where YAML names the fields (``Structure``), a record is the text of some and comes with others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.structure import Structure

__all__ = ["Record", "record_documents", "with_notes"]

_ROWS_NAMED = 10


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of a file.

    Attributes:
        row: 1-based, as in ``Place``.
        fields: Name → value, in the order of the file; blank values left out.
        notes: What had to be tolerated in this record.
        text: Its text, where that is not its fields.
    """

    row: int
    fields: Mapping[str, str]
    notes: tuple[str, ...] = ()
    text: str | None = None


def record_documents(
    records: Sequence[Record],
    path: str,
    options: ReadOptions,
    *,
    notes: tuple[str, ...] = (),
    names: Sequence[str] | None = None,
) -> list[Document]:
    """Return a document for each record that has text; ``notes`` on the file go to the first.

    Records that share an ``id`` are all kept, and noted: none overwrites another.

    Args:
        records: In the order of the file.
        path: Name of the file in every place.
        options: Whose ``structure`` counts.
        notes: On the file.
        names: The fields that the file has; default: those that its records have.

    Raises:
        ConfigError: The file lacks a field that YAML names.
    """
    structure = options.structure
    if structure is not None and records:
        structure.check(path, names or [name for record in records for name in record.fields])
    records = _with_notes_on_ids(records, structure)
    texts = [_text(record, structure) for record in records]
    blank = [record for record, text in zip(records, texts, strict=True) if not text.strip()]
    documents = [
        _document(record, text, path, structure)
        for record, text in zip(records, texts, strict=True)
        if text.strip()
    ]
    return with_notes(documents, notes + _notes_on_blank(blank, structure))


def with_notes(documents: Sequence[Document], notes: tuple[str, ...]) -> list[Document]:
    """Return the documents with ``notes`` on their file, which go to the first of them."""
    if not documents or not notes:
        return list(documents)
    first = documents[0]
    return [replace(first, notes=notes + first.notes), *documents[1:]]


def _document(record: Record, text: str, path: str, structure: Structure | None) -> Document:
    fields = record.fields
    return Document(
        place=Place(path=path, row=record.row),
        text=text,
        metadata=dict(fields) if structure is None else structure.metadata_of(fields),
        notes=record.notes,
        record_id=None if structure is None else structure.id_of(fields),
    )


def _notes_on_blank(records: Sequence[Record], structure: Structure | None) -> tuple[str, ...]:
    if structure is not None:
        return tuple(
            note
            for record in records
            for note in (
                *record.notes,
                f"row {record.row}: no text in the vector fields; left out",
            )
        )
    rows = [record.row for record in records]
    return (f"{_without_value(rows)}; left out",) if rows else ()


def _without_value(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}: no value"
    named = ", ".join(map(str, rows[:_ROWS_NAMED])) + (", …" if len(rows) > _ROWS_NAMED else "")
    return f"{len(rows)} rows hold no value (row {named})"


def _text(record: Record, structure: Structure | None) -> str:
    if structure is not None:
        return structure.text_of(record.fields)
    if record.text is not None:
        return record.text
    return "\n".join(f"{name}: {value}" for name, value in record.fields.items())


def _with_notes_on_ids(records: Sequence[Record], structure: Structure | None) -> list[Record]:
    row_of_id: dict[str, int] = {}
    noted: list[Record] = []
    for record in records:
        identifier = _id(record, structure)
        first = record.row if identifier is None else row_of_id.setdefault(identifier, record.row)
        if first != record.row:
            note = f"row {record.row}: id {identifier!r} is also that of row {first}; both are kept"
            record = replace(record, notes=(*record.notes, note))
        noted.append(record)
    return noted


def _id(record: Record, structure: Structure | None) -> str | None:
    if structure is not None:
        return structure.id_of(record.fields)
    named = record.fields.items()
    return next((value for name, value in named if name.casefold() == "id"), None)
