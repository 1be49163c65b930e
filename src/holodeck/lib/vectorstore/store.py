"""The chunks of one generation: a table, and what is derived of it for searches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holodeck.errors import IndexingError
from holodeck.lib.documents import Place
from holodeck.lib.indexes.arrays import open_arrays, write_arrays
from holodeck.lib.indexes.checked_arrays import Arrays, CheckedArrays, DamagedArraysError
from holodeck.lib.indexes.derived import make_derived, open_derived
from holodeck.lib.indexes.files import DERIVED_FILE
from holodeck.lib.indexes.places import Places
from holodeck.lib.indexes.text_units import PlacedRecord, TextUnit
from holodeck.lib.indexes.texts import Texts, text_at
from holodeck.lib.ranking.vectors import Vectors, has_projection
from holodeck.lib.ranking.words import WordIndex
from holodeck.lib.vectorstore.chunks import ChunkRows, StoredChunk, StoredPlace
from holodeck.lib.vectorstore.derive import DERIVED_VERSION, derive_arrays
from holodeck.lib.vectorstore.filters import wanted_places
from holodeck.lib.vectorstore.records import Records
from holodeck.lib.vectorstore.table import has_table, read_table, table_mark, write_table

__all__ = ["ChunkStore", "OpenStore", "open_store", "write_store"]

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]

_DECIMALS = 6
"""Of a score: beyond them equal texts differ by where they stand in a matrix."""
_NEARLY = 1e-5


class ChunkStore:
    """A store opened for reading; safe to use from several threads.

    A chunk is known by its row, in the order of ids. What is read is checked when it is read first.

    Args:
        arrays: What ``derive_arrays`` returned.

    Raises:
        DamagedArraysError: By every method: what is derived is not as it was written.
    """

    def __init__(self, arrays: CheckedArrays) -> None:
        self._chunks = arrays.group("chunks")
        self._places = Places(arrays.group("places"))
        self._records = Records(arrays.group("records"))
        self._vector_arrays = arrays.group("vectors")
        self._word_arrays = arrays.group("words")

    def __len__(self) -> int:
        return len(self._chunks.unread("ids"))

    @property
    def width(self) -> int:
        """Numbers in a vector; 0 for an empty store."""
        return int(self._vector_arrays.unread("matrix").shape[1])

    @property
    def ids(self) -> list[str]:
        """The id of every chunk."""
        return [row.tobytes().hex() for row in self._chunks["ids"]]

    @property
    def vectors(self) -> Floats:
        """The vector of every chunk."""
        return self._vector_arrays["matrix"]

    @cached_property
    def _vectors(self) -> Vectors:
        stored = self._vector_arrays
        # Where looks are rough, few rows of the matrix are ever read: ``cosines`` checks them.
        matrix = stored.unread("matrix") if has_projection(stored) else self.vectors
        others = {name: stored[name] for name in stored if name != "matrix"}
        return Vectors.from_arrays({**others, "matrix": matrix})

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(dict(self._word_arrays))

    def similarities(self, vector: Floats) -> Floats:
        """Return about the cosine of every chunk: exactly, or by a rough look."""
        projection = self._vectors.projection
        if projection is not None:
            return projection.look(vector).scores
        return _rounded(self._vectors.similarities(vector, len(self)))

    def cosines(self, rows: Rows, vector: Floats) -> Floats:
        """Return the cosines of some chunks, exactly."""
        return _rounded(np.vecdot(self._vector_arrays.rows("matrix", rows), vector))

    def near(self, vector: Floats, least: float) -> Flags | None:
        """Tell of every chunk whether its cosine reaches ``least``; ``None`` where looks are rough.

        Within what rounding may change: ``cosines`` decides.
        """
        if self._vectors.projection is not None:
            return None
        near: Flags = self.similarities(vector) >= least - _NEARLY
        return near

    def matches(self, question: str) -> Floats:
        """Return how well the words of every chunk match, by BM25; 0 where none does."""
        return _rounded(self._words.scores(question))

    def wanted(self, wanted: Mapping[str, str | int]) -> Flags:
        """Tell of each place, counted over all chunks, whether it has everything wanted."""
        return wanted_places(self._places, self._records, wanted)

    @property
    def paths(self) -> Sequence[str]:
        """The paths of the documents."""
        arrays = self._places.arrays
        return Texts(arrays["paths"], arrays["paths_ends"])

    @property
    def fields(self) -> list[str]:
        """The fields that records have."""
        return self._records.fields

    def owners(self, places: Flags) -> Flags:
        """Tell of each chunk whether one of the places is its."""
        starts = self._places.arrays["starts"]
        flags = np.zeros(len(self), dtype=np.bool_)
        flags[np.searchsorted(starts, np.flatnonzero(places), side="right") - 1] = True
        return flags

    def read(self, rows: Sequence[int], places: Flags | None = None) -> list[StoredChunk]:
        """Return chunks, in the order of ``rows``, with all their places or those flagged."""
        return [self._read(row, places) for row in rows]

    def _read(self, row: int, places: Flags | None) -> StoredChunk:
        start, stop = self._places.span(row)
        numbers = [n for n in range(start, stop) if places is None or places[n]]
        return StoredChunk(
            id=self._chunks.part("ids", row, row + 1).tobytes().hex(),
            text=text_at(self._chunks, "texts", row),
            places=tuple(
                StoredPlace(place=self._places.read(n, n + 1)[0], record=self._records.at(n))
                for n in numbers
            ),
        )


class OpenStore:
    """A store whose derived file is made again when a search finds it damaged.

    Args:
        folder: Where it lies.
        check: Raises a ``TableNotFoundError`` where the table is not as it was written; called
            before the table is read.
    """

    def __init__(self, folder: Path, check: Callable[[], None] = lambda: None) -> None:
        self._folder = folder
        self._check = check
        self._mending = threading.Lock()
        self._store = open_store(folder, check)

    def __len__(self) -> int:
        return len(self._store)

    @property
    def width(self) -> int:
        """Numbers in a vector; 0 for an empty store."""
        return self._store.width

    def ask(self, use: Callable[[ChunkStore], Answer]) -> Answer:
        """Return what ``use`` makes of the store; it is called again where a file was mended.

        Raises:
            TableNotFoundError: The table is damaged too.
        """
        store = self._store
        try:
            return use(store)
        except DamagedArraysError as error:
            return use(self._mended(store, error))

    def _mended(self, damaged: ChunkStore, error: DamagedArraysError) -> ChunkStore:
        with self._mending:
            if self._store is damaged:  # and nobody else mended it meanwhile
                logger.warning("%s: making it again", error)
                # Where the table is damaged too, the next build must not find the file.
                with suppress(OSError):
                    (self._folder / DERIVED_FILE).unlink()
                self._store = open_store(self._folder, self._check, anew=True)
            return self._store


def write_store(
    folder: Path,
    chunks: Sequence[TextUnit],
    vectors: Floats,
    records: Mapping[Place, PlacedRecord] | None = None,
) -> None:
    """Write a new store; without chunks it is an empty folder.

    Args:
        folder: Created here.
        chunks: In the order of their ids.
        vectors: Row ``i`` belongs to ``chunks[i]``; length 1, or zero.
        records: Place → what comes with the record there.

    Raises:
        IndexingError: It could not be written.
    """
    try:
        folder.mkdir(parents=True)
        if chunks:
            rows = ChunkRows.of(chunks, vectors, records or {})
            write_table(folder, rows)
            write_arrays(folder / DERIVED_FILE, derive_arrays(rows), _about(folder))
    except (OSError, RuntimeError, ValueError) as error:
        raise IndexingError(
            f"the index could not be written to {folder}: {error}. The old index is untouched and "
            "what was embedded is kept: make room or mend the folder, and build again"
        ) from error


def open_store(
    folder: Path, check: Callable[[], None] = lambda: None, *, anew: bool = False
) -> ChunkStore:
    """Open the store in ``folder``; what is derived of its table is made where it is missing.

    Args:
        folder: Where it lies.
        check: As for ``OpenStore``.
        anew: Make it also where it is there.

    Raises:
        TableNotFoundError: It is missing or damaged.
    """
    if folder.is_dir() and not has_table(folder):
        return ChunkStore(CheckedArrays(_no_arrays()))

    def derive() -> Arrays:
        check()
        return derive_arrays(read_table(folder))

    get = make_derived if anew else open_derived
    arrays = get(folder / DERIVED_FILE, _about(folder), derive, open_arrays)
    return ChunkStore(CheckedArrays.of(arrays))


def _about(folder: Path) -> dict[str, str]:
    return {"version": DERIVED_VERSION, "table": table_mark(folder)}


def _no_arrays() -> Arrays:
    return derive_arrays(ChunkRows(chunks=(), vectors=np.zeros((0, 0), dtype=np.float32)))


def _rounded(scores: Floats) -> Floats:
    return np.round(scores, _DECIMALS, out=scores)
