"""What tables and lists share: a record is a document of ``name: value`` lines.

Where YAML names the fields (``Structure``), a record is the text of some and comes with others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holodeck.lib.documents import Document, Place
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.structure import Structure

__all__ = ["Record", "record_documents"]

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
    documents: list[Document] = []
    row_of_id: dict[str, int] = {}
    blank: list[int] = []
    for record in records:
        text = _text(record, structure)
        record_notes = record.notes + _note_on_id(record, structure, row_of_id)
        if not text.strip():
            if structure is not None:
                notes += (
                    *record_notes,
                    f"row {record.row}: no text in the vector fields; left out",
                )
            else:
                blank.append(record.row)
            continue
        documents.append(
            Document(
                place=Place(path=path, row=record.row),
                text=text,
                metadata=(
                    dict(record.fields)
                    if structure is None
                    else structure.metadata_of(record.fields)
                ),
                notes=record_notes,
                record_id=None if structure is None else structure.id_of(record.fields),
            )
        )
    if blank:
        notes += (f"{_without_value(blank)}; left out",)
    if documents and notes:
        first = documents[0]
        documents[0] = replace(first, notes=notes + first.notes)
    return documents


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


def _note_on_id(
    record: Record, structure: Structure | None, row_of_id: dict[str, int]
) -> tuple[str, ...]:
    if structure is not None:
        identifier = structure.id_of(record.fields)
    else:
        named = ((value, name) for name, value in record.fields.items())
        identifier = next((value for value, name in named if name.casefold() == "id"), None)
    if identifier is None:
        return ()
    first = row_of_id.setdefault(identifier, record.row)
    if first == record.row:
        return ()
    return (f"row {record.row}: id {identifier!r} is also that of row {first}; both are kept",)
