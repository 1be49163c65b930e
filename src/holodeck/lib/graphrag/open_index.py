"""Tables and vectors on the disk → an index opened for search; also one that we did not build."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from holodeck.errors import TableNotFoundError
from holodeck.lib.contracts import Claim, ContextClaim, ContextReport
from holodeck.lib.documents import Place
from holodeck.lib.graphrag.graph_index import (
    PROMPTS_FILE,
    Community,
    Edges,
    Entities,
    GraphIndex,
    Links,
    TextUnits,
    Vectors,
)
from holodeck.lib.graphrag.prompts import SEARCH_PROMPTS, read_prompts
from holodeck.lib.graphrag.tables import read_columns, read_rows

__all__ = ["open_index"]

ENTITY_VECTORS = "entity_description"
UNIT_VECTORS = "text_unit_text"

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

Columns = Mapping[str, list[Any]]  # Any: what a table holds
RowOf = Mapping[str, int]


def open_index(tables: Path, vectors: Path) -> GraphIndex:
    """Open the tables and vectors of a generation, or of an index that the library built.

    The library's own index lacks what we add: its places are the titles of the documents, its
    prompts those of the installed library, and its vectors may lie beside the tables.

    Raises:
        TableNotFoundError: A table is missing or damaged.
        MissingExtraError: There are no prompts beside the index, and no library to read them from.
    """
    entities = read_columns(tables, "entities", _ENTITY_COLUMNS)
    edges = read_columns(tables, "relationships", _EDGE_COLUMNS)
    units = read_columns(tables, "text_units", ("id", "text", "document_id", "relationship_ids"))
    entity_rows = _rows_of(entities["id"])
    unit_rows = _rows_of(units["id"])
    opened_edges = _edges(edges, _rows_of(entities["title"]))
    if not vectors.is_dir() or not any(vectors.glob("*.lance")):
        vectors = tables / "lancedb"
    return GraphIndex(
        entities=_entities(entities, opened_edges, unit_rows),
        edges=opened_edges,
        text_units=TextUnits(
            ids=units["id"],
            texts=units["text"],
            edges=_stated(units, edges),
            places=_places(tables, units),
        ),
        claims=_claims(tables),
        communities={
            row["community"]: _community(row, entity_rows, unit_rows)
            for row in read_rows(tables, "communities")
        },
        reports={row["community"]: _report(row) for row in read_rows(tables, "community_reports")},
        entity_vectors=_vectors(vectors, ENTITY_VECTORS, entity_rows),
        unit_vectors=_vectors(vectors, UNIT_VECTORS, unit_rows),
        prompts=_prompts(tables),
    )


def _rows_of(keys: Sequence[str]) -> dict[str, int]:
    return {key: row for row, key in enumerate(keys)}


def _known(keys: Iterable[str] | None, rows: RowOf) -> list[int]:
    """Return the rows of ids; an id that the other table does not hold is passed over."""
    return [rows[key] for key in keys or () if key in rows]


def _links(lists: Sequence[Sequence[str] | None], rows: RowOf) -> Links:
    return Links.of_lists([_known(each, rows) for each in lists])


def _entities(columns: Columns, edges: Edges, unit_rows: RowOf) -> Entities:
    count = len(columns["id"])
    loops = edges.sources == edges.targets
    owners = np.concatenate((edges.sources, edges.targets[~loops]))
    rows = np.arange(len(edges))
    rows = np.concatenate((rows, rows[~loops]))
    order = np.argsort(rows, kind="stable")
    owners, rows = owners[order], rows[order]
    known = owners < count
    return Entities(
        ids=columns["id"],
        numbers=columns["human_readable_id"],
        titles=columns["title"],
        types=[value or "" for value in columns["type"]],
        descriptions=[value or "" for value in columns["description"]],
        degrees=[int(value or 0) for value in columns["degree"]],
        edges=Links.of_owners(owners[known], rows[known], count),
        units=_links(columns["text_unit_ids"], unit_rows),
    )


def _edges(columns: Columns, entity_of_title: dict[str, int]) -> Edges:
    # An end that no entity is named like gets a row past the last entity.
    rows = dict(entity_of_title)
    sources = [rows.setdefault(title, len(rows)) for title in columns["source"]]
    targets = [rows.setdefault(title, len(rows)) for title in columns["target"]]
    return Edges(
        ids=columns["id"],
        numbers=columns["human_readable_id"],
        source_titles=columns["source"],
        target_titles=columns["target"],
        descriptions=[value or "" for value in columns["description"]],
        weights=[value or 0.0 for value in columns["weight"]],
        sources=np.asarray(sources, dtype=np.int64),
        targets=np.asarray(targets, dtype=np.int64),
        ranks=np.asarray([value or 0 for value in columns["combined_degree"]], dtype=np.int64),
    )


def _stated(units: Columns, edges: Columns) -> Links:
    """Return the relationships of each text unit; where it lists none, those that list it."""
    edge_rows = _rows_of(edges["id"])
    listing: dict[str, list[int]] = defaultdict(list)
    for row, listed in enumerate(edges["text_unit_ids"]):
        for key in listed or ():
            listing[key].append(row)
    return Links.of_lists(
        [
            _known(listed, edge_rows) or listing.get(key, [])
            for key, listed in zip(units["id"], units["relationship_ids"], strict=True)
        ]
    )


def _community(row: Mapping[str, Any], entity_rows: RowOf, unit_rows: RowOf) -> Community:
    return Community(
        number=row["community"],
        level=row["level"],
        entities=_known(row["entity_ids"], entity_rows),
        text_units=_known(row["text_unit_ids"], unit_rows),
    )


def _report(row: Mapping[str, Any]) -> ContextReport:
    return ContextReport(
        number=row["community"],
        title=row["title"],
        content=row["full_content"],
        rank=row["rank"] or 0.0,
        summary=row["summary"] or "",
    )


def _claims(tables: Path) -> dict[str, list[ContextClaim]]:
    """Return the claims by subject; an index that was built without them has none."""
    claims: dict[str, list[ContextClaim]] = defaultdict(list)
    if (tables / "covariates.parquet").exists():
        for row in read_rows(tables, "covariates"):
            claim = Claim(
                subject=row["subject_id"],
                object=row["object_id"] or "",
                type=row["type"] or "",
                status=row["status"] or "",
                start_date=row["start_date"] or "",
                end_date=row["end_date"] or "",
                description=row["description"] or "",
                source_text=row["source_text"] or "",
            )
            number = row["human_readable_id"]
            claims[claim.subject].append(ContextClaim(number=number, claim=claim))
    return dict(claims)


def _places(tables: Path, units: Columns) -> list[tuple[Place, ...]]:
    """Return where each text unit stands; without our table of places, the document it is from."""
    if (tables / "sources.parquet").exists():
        places: dict[str, list[Place]] = defaultdict(list)
        for row in read_rows(tables, "sources"):
            place = Place(path=row["path"], page=row["page"], row=row["row"])
            places[row["text_unit_id"]].append(place)
        return [tuple(places[key]) for key in units["id"]]
    documents = read_columns(tables, "documents", ("id", "title"))
    titles = dict(zip(documents["id"], documents["title"], strict=True))
    return [(Place(path=titles[key]),) if titles.get(key) else () for key in units["document_id"]]


def _vectors(folder: Path, table: str, rows: RowOf) -> Vectors | None:
    """Return a vector table; an index without rows for it has none."""
    if not (folder / f"{table}.lance").is_dir():
        return None
    import lancedb

    try:
        content = lancedb.connect(str(folder)).open_table(table).to_arrow()
    except (OSError, ValueError, RuntimeError) as error:
        raise TableNotFoundError(
            f"the vectors {table!r} in {folder} cannot be read ({type(error).__name__}): build the "
            "index again with 'holodeck index --force'"
        ) from error
    if not len(content):
        return None
    column = content["vector"].combine_chunks()
    matrix = np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), -1)
    of_row = [rows.get(key, -1) for key in content["id"].to_pylist()]
    found = np.asarray(of_row, dtype=np.int64)
    if (found < 0).any():
        matrix, found = matrix[found >= 0], found[found >= 0]
    return Vectors(rows=found, matrix=matrix)


def _prompts(tables: Path) -> dict[str, str]:
    path = tables / PROMPTS_FILE
    if not path.exists():
        return read_prompts(SEARCH_PROMPTS)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableNotFoundError(
            f"the search prompts {path} cannot be read ({type(error).__name__}): build the index "
            "again with 'holodeck index --force'"
        ) from error
    return {str(name): str(text) for name, text in content.items()}
