"""What tables and lists share: a record is a document of ``name: value`` lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holodeck.lib.documents import Document, Place

__all__ = ["Record", "record_documents"]


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
    records: Sequence[Record], path: str, notes: tuple[str, ...] = ()
) -> list[Document]:
    """Return a document for each record that has text; ``notes`` on the file go to the first.

    Records that share an ``id`` are all kept, and noted: none overwrites another.
    """
    documents: list[Document] = []
    row_of_id: dict[str, int] = {}
    for record in records:
        text = record.text
        if text is None:
            text = "\n".join(f"{name}: {value}" for name, value in record.fields.items())
        if not text.strip():
            continue
        record_notes = record.notes + _note_on_id(record, row_of_id)
        documents.append(
            Document(
                place=Place(path=path, row=record.row),
                text=text,
                metadata=dict(record.fields),
                notes=record_notes if documents else notes + record_notes,
            )
        )
    return documents


def _note_on_id(record: Record, row_of_id: dict[str, int]) -> tuple[str, ...]:
    identifier = next(
        (value for name, value in record.fields.items() if name.casefold() == "id"), None
    )
    if identifier is None:
        return ()
    first = row_of_id.setdefault(identifier, record.row)
    if first == record.row:
        return ()
    return (f"row {record.row}: id {identifier!r} is also that of row {first}; both are kept",)
