"""Documents → distinct texts: documents, text units and their places.

Order is by content id everywhere; a path is an attribute of a source and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from holodeck.lib.chunking import ChunkEnds, Cut, chunks_at, find_cuts
from holodeck.lib.documents import Chunk, Document, Place
from holodeck.lib.indexes.step_memo import StepMemo

__all__ = ["PlacedRecord", "Prepared", "TextUnit", "prepare"]


@dataclass(frozen=True, kw_only=True)
class TextUnit:
    """A distinct text of the corpus and every place where it stands.

    Attributes:
        id: ``content_id`` of the text.
        document_id: The first document, by id, that holds it.
        places: In order of path, page and row.
    """

    id: str
    text: str
    n_tokens: int
    document_id: str
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class PlacedRecord:
    """What comes with a record at one place: its id, where YAML names the field, and its fields."""

    id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What a corpus is made of.

    Attributes:
        documents: One for each distinct text, by id; the places of all its copies beside it.
        text_units: One for each distinct run of tokens, by id.
        units_of: Document id → its text units in reading order.
        records: Place → what comes with the record there.
    """

    documents: tuple[tuple[Document, tuple[Place, ...]], ...]
    text_units: tuple[TextUnit, ...]
    units_of: dict[str, tuple[str, ...]]
    records: Mapping[Place, PlacedRecord] = field(default_factory=dict)


def prepare(
    documents: Iterable[Document],
    chunk_size: int,
    chunk_overlap: int,
    ends: ChunkEnds = "sentences",
    *,
    memo: StepMemo | None = None,
) -> Prepared:
    """Cut the documents into text units; equal texts are one.

    Args:
        documents: In any order.
        chunk_size: Most tokens of a text unit.
        chunk_overlap: Most tokens that one repeats from the one before.
        ends: Where they end, if they can.
        memo: Where texts were cut by the same settings before.
    """
    distinct, places, records = _gathered(documents)
    known = StepMemo() if memo is None else memo
    units: dict[str, Chunk] = {}
    units_of: dict[str, tuple[str, ...]] = {}
    unit_places: dict[str, set[Place]] = {}
    for document_id in sorted(distinct):
        document = distinct[document_id]
        chunks = chunks_at(document, _cuts(document, (chunk_size, chunk_overlap, ends), known))
        for chunk in chunks:
            units.setdefault(chunk.id, chunk)
            unit_places.setdefault(chunk.id, set()).update(places[document_id])
        units_of[document_id] = tuple(dict.fromkeys(chunk.id for chunk in chunks))
    return Prepared(
        documents=tuple(
            (distinct[document_id], tuple(sorted(places[document_id], key=_place_key)))
            for document_id in sorted(distinct)
        ),
        text_units=tuple(
            TextUnit(
                id=unit_id,
                text=units[unit_id].text,
                n_tokens=units[unit_id].n_tokens,
                document_id=units[unit_id].document_id,
                places=tuple(sorted(unit_places[unit_id], key=_place_key)),
            )
            for unit_id in sorted(units)
        ),
        units_of=units_of,
        records=records,
    )


def _gathered(
    documents: Iterable[Document],
) -> tuple[dict[str, Document], dict[str, set[Place]], dict[Place, PlacedRecord]]:
    """Return each distinct text once, where each stands, and what comes with it there."""
    distinct: dict[str, Document] = {}
    places: dict[str, set[Place]] = {}
    records: dict[Place, PlacedRecord] = {}
    for document in documents:
        kept = distinct.setdefault(document.id, document)
        if document.place < kept.place:
            distinct[document.id] = document
        places.setdefault(document.id, set()).add(document.place)
        if document.record_id is not None or document.metadata:
            records[document.place] = PlacedRecord(
                id=document.record_id, metadata=document.metadata
            )
    return distinct, places, records


def _cuts(
    document: Document, settings: tuple[int, int, ChunkEnds], memo: StepMemo
) -> Iterator[Cut]:
    key = f"cuts:{document.id}"
    known = memo.get(key)
    if known is None:
        known = find_cuts(document.text, *settings)
        memo.put(key, known)
    return (Cut(*cut) for cut in known)


def _place_key(place: Place) -> tuple[str, int, int]:
    return (place.path, place.page or 0, place.row or 0)
