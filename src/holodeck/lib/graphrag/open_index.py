"""An index opened for search: mapped from what was derived of its tables, also one of others.

The tables are the truth. What was derived lies in one file that is checked when it is opened, and
made again where it is missing, damaged or of other tables; see ``derive``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from holodeck.errors import TableNotFoundError
from holodeck.lib.contracts import Claim, ContextClaim
from holodeck.lib.graphrag.foreign import ForeignIndex
from holodeck.lib.graphrag.graph_index import PROMPTS_FILE, GraphIndex
from holodeck.lib.graphrag.links import Links
from holodeck.lib.graphrag.local_sections import known_counts, line_tokens
from holodeck.lib.graphrag.opened_tables import (
    Communities,
    Edges,
    Entities,
    Reports,
    TextUnits,
)
from holodeck.lib.graphrag.prompts import SEARCH_PROMPTS, read_prompts
from holodeck.lib.graphrag.search_words import Names, SearchWords
from holodeck.lib.graphrag.spread import Spread
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.lib.graphrag.write_context import TokenCounts
from holodeck.lib.indexes.arrays import Arrays, map_arrays, write_arrays
from holodeck.lib.indexes.derived import open_derived
from holodeck.lib.indexes.files import DERIVED_FILE, mark_sizes
from holodeck.lib.indexes.places import Places
from holodeck.lib.indexes.texts import Texts
from holodeck.lib.ranking.vectors import Vectors
from holodeck.lib.ranking.words import WordIndex
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    from holodeck.lib.indexes.step_memo import StepMemo

__all__ = [
    "DERIVED_FILE",
    "derive_index",
    "derive_places",
    "open_foreign",
    "open_generation",
    "open_index",
    "open_storage",
]

DERIVED_VERSION = "4"
"""Raised when the same tables give other arrays."""

logger = logging.getLogger(__name__)


def open_index(
    tables: Path,
    vectors: Path,
    derived: Path | None = None,
    check: Callable[[], None] = lambda: None,
) -> GraphIndex:
    """Open the tables and vectors of a generation, or of an index that the library built.

    The library's own index lacks what we add: its places are the titles of the documents, its
    prompts those of the installed library, and its vectors may lie beside the tables.

    Args:
        tables: Folder of the tables.
        vectors: Folder of the vectors.
        derived: File of what is derived, made where there is none that fits; default: nothing is
            written, and all is held in memory.
        check: As for ``open_generation``.

    Raises:
        TableNotFoundError: A table is missing or damaged.
        MissingExtraError: There are no prompts beside the index, and no library to read them from.
    """
    if derived is None:
        return _index(_derive(tables, vectors), _prompts(tables))
    about = _about(tables, vectors)

    def derive() -> Arrays:
        check()
        return _derive(tables, vectors)

    arrays = open_derived(derived, about, derive, map_arrays)
    return _index(arrays, _prompts(tables))


def open_generation(
    tables: Path, vectors: Path, check: Callable[[], None] = lambda: None
) -> GraphIndex:
    """Open a generation of ours: what is derived of it lies beside its tables.

    Args:
        tables: Folder of the tables.
        vectors: Folder of the vectors.
        check: Raises a ``TableNotFoundError`` where a file is not as it was written; called before
            the tables are read.

    Raises:
        TableNotFoundError: As for ``open_index``.
    """
    return open_index(tables, vectors, tables / DERIVED_FILE, check)


def open_foreign(foreign: ForeignIndex, derived: Path) -> GraphIndex:
    """Open an index that the library's command line built; nothing is written beside it.

    Raises:
        TableNotFoundError: A table is missing or damaged, or of a release that is not understood.
    """
    try:
        return open_index(foreign.tables, foreign.vectors, derived)
    except TableNotFoundError as error:
        raise TableNotFoundError(
            f"{error.damage or error}; that index is of graphrag {foreign.version}, and HoloDeck "
            "does not mend it: build it again with the library, or set another "
            "graphrag.storage_dir to build one with HoloDeck"
        ) from error


def open_storage(storage: GraphRAGStorage) -> GraphIndex:
    """Open the current index of a tool's folder, ours or a foreign one.

    Raises:
        TableNotFoundError: A table is missing or damaged.
    """
    foreign = storage.foreign
    if foreign is not None:
        return open_foreign(foreign, storage.derived_file)
    record = storage.record()
    check = _unchecked if record is None else partial(storage.check, record, by_content=True)
    return open_generation(storage.output_dir, storage.vectors_dir, check)


def _unchecked() -> None:
    """Leave tables that no record tells of to whoever reads them."""


def derive_index(
    tables: Path, vectors: Path, memo: StepMemo | None = None, written: Arrays | None = None
) -> None:
    """Write what a search works on beside the tables of a generation of ours.

    Args:
        tables: Folder of the tables.
        vectors: Folder of the vectors.
        memo: Of what was counted for the generation before.
        written: Vector tables that need not be read: their vectors, in the order of the rows.

    Raises:
        TableNotFoundError: A table is missing or damaged.
    """
    arrays = _derive(tables, vectors, memo, written)
    write_arrays(tables / DERIVED_FILE, arrays, _about(tables, vectors))


def derive_places(tables: Path, vectors: Path, like: tuple[Path, Path]) -> None:
    """Do as ``derive_index`` for tables that are those of another generation but for the places.

    Args:
        tables: Folder of the tables.
        vectors: Folder of the vectors.
        like: The folders of the other generation.
    """
    arrays = map_arrays(like[0] / DERIVED_FILE, _about(*like))
    if arrays is None:
        derive_index(tables, vectors)
        return
    from holodeck.lib.graphrag.derive import unit_places

    places = unit_places(tables, _texts(arrays, "units.ids"))
    placed = {f"places.{name}": array for name, array in places.items()}
    write_arrays(tables / DERIVED_FILE, {**arrays, **placed}, _about(tables, vectors))


def _derive(
    tables: Path, vectors: Path, memo: StepMemo | None = None, written: Arrays | None = None
) -> Arrays:
    # Here and not above: what reads tables takes long to import, and a prepared index needs none.
    from holodeck.lib.graphrag.counted_lines import CountedLines
    from holodeck.lib.graphrag.derive import derive_arrays

    start = time.perf_counter()
    arrays = dict(derive_arrays(tables, vectors, written or {}))
    count = count_tokens if memo is None else CountedLines(memo)
    counted = line_tokens(_index(arrays, {}), count)
    arrays |= {f"{_TOKENS}.{name}": counts for name, counts in counted.items()}
    logger.info("prepared %s for search in %.1f s", tables, time.perf_counter() - start)
    return arrays


_END = 1 << 12
"""Bytes at the end of a table that tell it from another: its footer lies there."""


def _about(tables: Path, vectors: Path) -> dict[str, str]:
    """Return what tells these tables and vectors from others, without reading them."""
    digest = hashlib.sha256()
    for path in sorted((*tables.glob("*.parquet"), *tables.glob("*/*.parquet"))):
        if path.is_dir():
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(tables)}:{size}:".encode())
        with path.open("rb") as stream:
            stream.seek(max(0, size - _END))
            digest.update(stream.read())
    for folder in (vectors, tables / "lancedb"):
        if folder.is_dir():
            digest.update(mark_sizes(folder, folder.glob("*.lance/data/*")))
    return {"version": DERIVED_VERSION, "tables": digest.hexdigest()}


class _Claims(Mapping[int, Sequence[ContextClaim]]):
    """Row of an entity → claims about it."""

    def __init__(self, arrays: Arrays) -> None:
        self._numbers = arrays["numbers"]
        self._fields = {name: _texts(arrays, name) for name in _CLAIM_FIELDS}
        self._links = _links(arrays)
        self._known = self._links.counts.nonzero()[0].tolist() if len(self._numbers) else []

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __getitem__(self, row: int) -> Sequence[ContextClaim]:
        rows = self._links.of(row).tolist()
        if not rows:
            raise KeyError(row)
        return [
            ContextClaim(
                number=int(self._numbers[each]),
                claim=Claim(**{name: texts[each] for name, texts in self._fields.items()}),
            )
            for each in rows
        ]


_CLAIM_FIELDS = tuple(Claim.__dataclass_fields__)


def _part(arrays: Arrays, name: str) -> dict[str, NDArray[Any]]:
    start = f"{name}."
    return {
        key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)
    }


def _texts(arrays: Arrays, name: str) -> Texts:
    return Texts(arrays[name], arrays[f"{name}_ends"])


def _links(arrays: Arrays, name: str = "") -> Links:
    return Links(starts=arrays[f"{name}starts"], rows=arrays[f"{name}rows"])


_TOKENS = "tokens"


def _index(arrays: Arrays, prompts: Mapping[str, str]) -> GraphIndex:
    entities, tokens = _part(arrays, "entities"), _part(arrays, _TOKENS)
    reports = _reports(_part(arrays, "reports"), tokens.get("batched"))
    return GraphIndex(
        entities=Entities(
            ids=_texts(entities, "ids"),
            titles=_texts(entities, "titles"),
            types=_texts(entities, "types"),
            descriptions=_texts(entities, "descriptions"),
            numbers=entities["numbers"],
            degrees=entities["degrees"],
            edges=_links(_part(arrays, "joined")),
            units=_links(_part(arrays, "mentions")),
        ),
        edges=_edges(_part(arrays, "edges"), _links(_part(arrays, "founded"))),
        text_units=TextUnits(
            ids=_texts(arrays, "units.ids"),
            texts=_texts(arrays, "units.texts"),
            lengths=arrays["units.lengths"],
            edges=_links(_part(arrays, "stated")),
            places=Places(_part(arrays, "places")),
        ),
        claims=_Claims(_part(arrays, "claims")),
        claim_units=_claim_units(_part(arrays, "claims")),
        communities=_communities(_part(arrays, "communities")),
        reports=reports,
        entity_vectors=_vectors(_part(arrays, "entity_vectors")),
        unit_vectors=_vectors(_part(arrays, "unit_vectors")),
        words=SearchWords(
            Names.from_arrays(_part(arrays, "names")),
            {
                name: WordIndex(_part(arrays, f"words.{name}"))
                for name in ("titles", "entities", "edges", "units")
            },
        ),
        spread=Spread(
            entities=len(entities["numbers"]),
            steps=_links(_part(arrays, "spread")),
            shares=arrays["spread.shares"],
        ),
        prompts=prompts,
        token_counts=TokenCounts(known_counts(tokens, reports) if tokens else None),
    )


def _edges(arrays: Arrays, units: Links) -> Edges:
    return Edges(
        units=units,
        ids=_texts(arrays, "ids"),
        names=_texts(arrays, "names"),
        descriptions=_texts(arrays, "descriptions"),
        **{name: arrays[name] for name in ("numbers", "weights", "sources", "targets", "ranks")},
    )


def _reports(arrays: Arrays, tokens: NDArray[Any] | None) -> Reports:
    return Reports(
        numbers=arrays["numbers"],
        ranks=arrays["ranks"],
        titles=_texts(arrays, "titles"),
        contents=_texts(arrays, "contents"),
        summaries=_texts(arrays, "summaries"),
        tokens=tokens,
    )


def _claim_units(arrays: Arrays) -> dict[int, int]:
    pairs = zip(arrays["numbers"].tolist(), arrays["units"].tolist(), strict=True)
    return {number: row for number, row in pairs if row >= 0}


def _communities(arrays: Arrays) -> Communities:
    return Communities(
        entities=_links(arrays, "entity_"),
        text_units=_links(arrays, "unit_"),
        **{name: arrays[name] for name in ("numbers", "levels", "parents")},
    )


def _vectors(arrays: Arrays) -> Vectors | None:
    return Vectors.from_arrays(arrays) if arrays else None


def _prompts(tables: Path) -> dict[str, str]:
    path = tables / PROMPTS_FILE
    if not path.exists():
        return read_prompts(SEARCH_PROMPTS)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableNotFoundError.of(
            f"the search prompts {path} cannot be read ({type(error).__name__})"
        ) from error
    return {str(name): str(text) for name, text in content.items()}
