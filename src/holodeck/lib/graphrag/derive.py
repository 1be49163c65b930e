"""Tables and vectors on the disk → the arrays that a search works on.

All of it follows from the tables, so it may be made again at any time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.errors import TableNotFoundError
from holodeck.lib.documents import Place
from holodeck.lib.graphrag.links import Links
from holodeck.lib.graphrag.search_words import SearchWords
from holodeck.lib.graphrag.spread import spread_over
from holodeck.lib.graphrag.tables import column_names, has_table, read_columns, read_rows
from holodeck.lib.indexes.arrays import Arrays
from holodeck.lib.indexes.places import place_arrays
from holodeck.lib.indexes.texts import text_arrays
from holodeck.lib.ranking.vectors import Vectors

__all__ = ["CLAIM_FIELDS", "derive_arrays", "unit_places", "vectors_folder"]

ENTITY_VECTORS = "entity_description"
UNIT_VECTORS = "text_unit_text"
CLAIM_FIELDS: Mapping[str, str] = {
    "subject": "subject_id",
    "object": "object_id",
    "type": "type",
    "status": "status",
    "start_date": "start_date",
    "end_date": "end_date",
    "description": "description",
    "source_text": "source_text",
}
"""Field of a claim → its column."""

_CLAIM_COLUMNS = ("human_readable_id", "text_unit_id", *CLAIM_FIELDS.values())
_ENTITY_COLUMNS = (
    "id",
    "human_readable_id",
    "title",
    "type",
    "description",
    "text_unit_ids",
    "degree",
)
_EDGE_COLUMNS = (
    "id",
    "human_readable_id",
    "source",
    "target",
    "description",
    "weight",
    "combined_degree",
    "text_unit_ids",
)
_COMMUNITY_COLUMNS = ("community", "level", "parent", "entity_ids", "text_unit_ids")

Columns = Mapping[str, list[Any]]  # Any: what a table holds
RowOf = Mapping[str, int]
Found = dict[str, NDArray[Any]]  # Any: as in Arrays

_NOTHING: Arrays = {}


def derive_arrays(tables: Path, vectors: Path, written: Arrays = _NOTHING) -> Arrays:
    """Read the tables and vectors of a generation, or of an index that the library built.

    Args:
        tables: Folder of the tables.
        vectors: Folder of the vectors.
        written: Vector tables that need not be read: their vectors, in the order of the rows.

    Raises:
        TableNotFoundError: A table is missing or damaged.
    """
    entities = read_columns(tables, "entities", _ENTITY_COLUMNS)
    edges = read_columns(tables, "relationships", _EDGE_COLUMNS)
    units = read_columns(tables, "text_units", ("id", "text", "relationship_ids"))
    entity_rows, unit_rows = _rows_of(entities["id"]), _rows_of(units["id"])
    folder = vectors_folder(tables, vectors)
    parts: dict[str, Mapping[str, NDArray[Any]]] = {
        "entities": _entities(entities),
        "edges": _edges(edges, entities["title"]),
        "units": {
            **_texts("ids", units["id"]),
            **_texts("texts", units["text"]),
            "lengths": _whole(map(len, units["text"])),
        },
        "stated": _links(_stated(units, edges)),
        "mentions": _links([_known(each, unit_rows) for each in entities["text_unit_ids"]]),
        "places": unit_places(tables, units["id"]),
        "claims": _claims(tables, entities["title"], unit_rows),
        "communities": _communities(tables, entity_rows, unit_rows),
        "reports": _reports(tables),
        "entity_vectors": _vectors(folder, ENTITY_VECTORS, entity_rows, written),
        "unit_vectors": _vectors(folder, UNIT_VECTORS, unit_rows, written),
    }
    parts["joined"] = _joined(parts["edges"], len(entity_rows))
    parts["founded"] = _founded(Links(**parts["stated"]), len(edges["id"]))
    parts["spread"] = _spread(parts, len(entity_rows), len(unit_rows))
    words = SearchWords.of(
        titles=entities["title"],
        entities=[value or "" for value in entities["description"]],
        edges=[value or "" for value in edges["description"]],
        units=units["text"],
    )
    parts["names"] = words.names.arrays
    for name in ("titles", "entities", "edges", "units"):
        parts[f"words.{name}"] = getattr(words, name).arrays
    return {f"{part}.{name}": array for part, all_ in parts.items() for name, array in all_.items()}


def vectors_folder(tables: Path, vectors: Path) -> Path:
    """Return where the vectors lie; the library's may lie beside its tables."""
    has_own = vectors.is_dir() and any(vectors.glob("*.lance"))
    return vectors if has_own else tables / "lancedb"


def _rows_of(keys: Sequence[str]) -> dict[str, int]:
    return {key: row for row, key in enumerate(keys)}


def _known(keys: Iterable[str] | None, rows: RowOf) -> list[int]:
    """Return the rows of ids; an id that the other table does not hold is passed over."""
    return [rows[key] for key in keys or () if key in rows]


def _texts(name: str, values: Iterable[str | None]) -> Found:
    return text_arrays(name, (value or "" for value in values))


def _links(lists: Sequence[Sequence[int]] | Links) -> Found:
    links = lists if isinstance(lists, Links) else Links.of_lists(lists)
    return {"starts": links.starts, "rows": links.rows}


def _whole(values: Iterable[int | None], missing: int = 0) -> NDArray[np.int64]:
    return np.array([missing if value is None else int(value) for value in values], dtype=np.int64)


def _entities(columns: Columns) -> Found:
    return {
        **_texts("ids", columns["id"]),
        **_texts("titles", columns["title"]),
        **_texts("types", columns["type"]),
        **_texts("descriptions", columns["description"]),
        "numbers": _whole(columns["human_readable_id"]),
        "degrees": _whole(columns["degree"]),
    }


def _edges(columns: Columns, titles: Sequence[str]) -> Found:
    # An end that no entity is named like gets a row past the last entity.
    rows = _rows_of(titles)
    others: dict[str, int] = {}

    def row_of(title: str) -> int:
        known = rows.get(title)
        return len(titles) + others.setdefault(title, len(others)) if known is None else known

    return {
        **_texts("ids", columns["id"]),
        **_texts("descriptions", columns["description"]),
        "numbers": _whole(columns["human_readable_id"]),
        "weights": np.array([value or 0.0 for value in columns["weight"]], dtype=np.float64),
        "sources": _whole(map(row_of, columns["source"])),
        "targets": _whole(map(row_of, columns["target"])),
        "ranks": _whole(columns["combined_degree"]),
        **_texts("names", (*titles, *others)),
    }


def _joined(edges: Mapping[str, NDArray[Any]], entities: int) -> Found:
    """Return the relationships of each entity; one that leads back to its beginning counts once."""
    sources, targets = edges["sources"], edges["targets"]
    loops = sources == targets
    owners = np.concatenate((sources, targets[~loops]))
    rows = np.arange(len(sources))
    rows = np.concatenate((rows, rows[~loops]))
    order = np.argsort(rows, kind="stable")
    owners, rows = owners[order], rows[order]
    known = owners < entities
    return _links(Links.of_owners(owners[known], rows[known], entities))


def _stated(units: Columns, edges: Columns) -> list[list[int]]:
    """Return the relationships of each text unit; where it lists none, those that list it."""
    edge_rows = _rows_of(edges["id"])
    listing: dict[str, list[int]] = defaultdict(list)
    for row, listed in enumerate(edges["text_unit_ids"]):
        for key in listed or ():
            listing[key].append(row)
    return [
        _known(listed, edge_rows) or listing.get(key, [])
        for key, listed in zip(units["id"], units["relationship_ids"], strict=True)
    ]


def _founded(stated: Links, edges: int) -> Found:
    """Return the text units of each relationship."""
    return _links(Links.of_owners(stated.rows, stated.owners, edges))


def _spread(
    parts: Mapping[str, Mapping[str, NDArray[Any]]], entities: int, units: int
) -> Mapping[str, NDArray[Any]]:
    edges = parts["edges"]
    mentions = Links(**parts["mentions"])
    known = (edges["sources"] < entities) & (edges["targets"] < entities)
    spread = spread_over(
        entities=entities,
        units=units,
        sources=edges["sources"][known],
        targets=edges["targets"][known],
        weights=edges["weights"][known],
        mentioned=mentions.owners,
        mentions=mentions.rows,
    )
    return {**_links(spread.steps), "shares": spread.shares}


def _communities(tables: Path, entity_rows: RowOf, unit_rows: RowOf) -> Found:
    rows = read_rows(tables, "communities", _COMMUNITY_COLUMNS)
    members = _links([_known(row["entity_ids"], entity_rows) for row in rows])
    texts = _links([_known(row["text_unit_ids"], unit_rows) for row in rows])
    return {
        "numbers": _whole(row["community"] for row in rows),
        "levels": _whole(row["level"] for row in rows),
        "parents": _whole((row["parent"] for row in rows), missing=-1),
        **{f"entity_{name}": array for name, array in members.items()},
        **{f"unit_{name}": array for name, array in texts.items()},
    }


def _reports(tables: Path) -> Found:
    columns = read_columns(
        tables, "community_reports", ("community", "title", "full_content", "rank", "summary")
    )
    return {
        "numbers": _whole(columns["community"]),
        "ranks": np.array([value or 0.0 for value in columns["rank"]], dtype=np.float64),
        **_texts("titles", columns["title"]),
        **_texts("contents", columns["full_content"]),
        **_texts("summaries", columns["summary"]),
    }


def _claims(tables: Path, titles: Sequence[str], unit_rows: RowOf) -> Found:
    """Return the claims and, for each entity, those about it; without claims, none."""
    rows: list[dict[str, Any]] = []
    if has_table(tables, "covariates"):
        rows = read_rows(tables, "covariates", _CLAIM_COLUMNS)
    about: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        about[row["subject_id"]].append(number)
    found: Found = {
        "numbers": _whole(row["human_readable_id"] for row in rows),
        "units": _whole(unit_rows.get(row["text_unit_id"], -1) for row in rows),
    }
    for name, column in CLAIM_FIELDS.items():
        found |= _texts(name, (row[column] for row in rows))
    return found | _links([about.get(title, []) for title in titles])


def unit_places(tables: Path, units: Sequence[str]) -> Found:
    """Return where each text unit stands; without our table of places, the document it is from."""
    return place_arrays(_listed_places(tables, units))


def _listed_places(tables: Path, units: Sequence[str]) -> Iterator[Sequence[Place]]:
    if has_table(tables, "sources"):
        places: dict[str, list[Place]] = defaultdict(list)
        for row in read_rows(tables, "sources", ("text_unit_id", "path", "page", "row")):
            place = Place(path=row["path"], page=row["page"], row=row["row"])
            places[row["text_unit_id"]].append(place)
        yield from (places[key] for key in units)
        return
    documents = read_columns(tables, "documents", ("id", "title"))
    titles = dict(zip(documents["id"], documents["title"], strict=True))
    for keys in _documents_of(tables):
        yield [Place(path=titles[key]) for key in keys if titles.get(key)]


def _documents_of(tables: Path) -> list[list[str]]:
    """Return the documents of each text unit; release 2 of the library listed several."""
    several = "document_ids"
    if several not in column_names(tables, "text_units"):
        return [[key] for key in read_columns(tables, "text_units", ["document_id"])["document_id"]]
    return [keys or [] for keys in read_columns(tables, "text_units", [several])[several]]


def _vectors(folder: Path, table: str, rows: RowOf, written: Arrays) -> Arrays:
    """Return a vector table; an index without rows for it has none."""
    if table in written:
        return Vectors.of(np.arange(len(rows)), written[table]).arrays
    stored = _stored_as(folder, table)
    if stored is None:
        return {}
    import lancedb

    try:
        content = lancedb.connect(str(folder)).open_table(stored).to_arrow()
    except (OSError, ValueError, RuntimeError) as error:
        raise TableNotFoundError.of(
            f"the vectors {table!r} in {folder} cannot be read ({type(error).__name__})"
        ) from error
    if not len(content):
        return {}
    column = content["vector"].combine_chunks()
    matrix = np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), -1)
    found = _whole(rows.get(key, -1) for key in content["id"].to_pylist())
    if (found < 0).any():
        matrix, found = matrix[found >= 0], found[found >= 0]
    return Vectors.of(found, matrix).arrays


def _stored_as(folder: Path, table: str) -> str | None:
    """Return what a vector table is called; release 2 wrote ``default-entity-description``."""
    if (folder / f"{table}.lance").is_dir():
        return table
    names = sorted(path.stem for path in folder.glob("*.lance"))
    return next((name for name in names if _SEPARATORS.sub("_", name).endswith(f"_{table}")), None)


_SEPARATORS = re.compile("[-.]")
