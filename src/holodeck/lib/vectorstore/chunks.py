"""Chunks as they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holodeck.lib.documents import Place
from holodeck.lib.indexes.text_units import PlacedRecord, TextUnit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ChunkRows", "StoredChunk", "StoredPlace"]


@dataclass(frozen=True, kw_only=True)
class StoredPlace:
    """A place, and what comes with the record there."""

    place: Place
    record: PlacedRecord


@dataclass(frozen=True, kw_only=True)
class StoredChunk:
    """A chunk, with places where its text stands."""

    id: str
    text: str
    places: tuple[StoredPlace, ...]


@dataclass(frozen=True, kw_only=True)
class ChunkRows:
    """All chunks of an index, in the order of their ids.

    Attributes:
        vectors: Row ``i`` belongs to ``chunks[i]``; length 1, or zero.
    """

    chunks: Sequence[StoredChunk]
    vectors: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        units: Sequence[TextUnit],
        vectors: NDArray[np.float32],
        records: Mapping[Place, PlacedRecord],
    ) -> ChunkRows:
        """Return the chunks of a corpus.

        Args:
            units: In the order of their ids.
            vectors: One for each.
            records: Place → what comes with the record there.
        """
        return cls(chunks=list(_stored(units, records)), vectors=vectors)


def _stored(
    units: Sequence[TextUnit], records: Mapping[Place, PlacedRecord]
) -> Iterator[StoredChunk]:
    nothing = PlacedRecord()
    for unit in units:
        places = tuple(StoredPlace(place=at, record=records.get(at, nothing)) for at in unit.places)
        yield StoredChunk(id=unit.id, text=unit.text, places=places)
