"""A generation of the same texts as the published one: only where they stand is written anew."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from holodeck.lib.graphrag.open_index import derive_places
from holodeck.lib.graphrag.prepare import write_prepared
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.indexes.corpus import Corpus
from holodeck.lib.indexes.files import MEMO_FILE

__all__ = ["take_over"]

logger = logging.getLogger(__name__)

_PLACED = ("documents", "sources", "text_units")
"""The tables that say where texts stand."""
_FOUND = ("entity_ids", "relationship_ids", "covariate_ids")
"""The columns of text units that do not."""


def take_over(corpus: Corpus, storage: GraphRAGStorage) -> IndexMetadata | None:
    """Fill a generation from the published one, where that holds the same texts.

    Returns:
        The record of the published one; ``None``: it holds others, or is damaged, and nothing was
        written.
    """
    record = storage.get_metadata()
    if record is None or not record.files or record.generation != corpus.held_in:
        return None
    damage = storage.damage(record, by_content=True)
    if damage is not None:
        logger.warning("%s: building the index again, not only its places", damage)
        return None
    before = storage.generation_dirs(record.generation)
    tables, vectors = storage.generation_dirs(corpus.generation)
    for old, new in zip(before, (tables, vectors), strict=True):
        for file in _files_of(record, storage.storage_dir, old):
            _link(old / file, new / file)
    if (before[0] / MEMO_FILE).exists():
        _link(before[0] / MEMO_FILE, tables / MEMO_FILE)
    write_prepared(corpus.prepared, tables)
    _write_found(before[0], tables)
    derive_places(tables, vectors, before)
    return record


def _files_of(record: IndexMetadata, root: Path, folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, by their path in it, but those that say where texts stand."""
    placed = {folder / f"{table}.parquet" for table in _PLACED}
    for name in record.files:
        path = root / name
        if path.is_relative_to(folder) and path not in placed:
            yield path.relative_to(folder)


def _link(old: Path, new: Path) -> None:
    """Let a file be in two folders: nothing is ever written into one that is there."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new)
    except OSError:  # a file system without links, or another one
        shutil.copyfile(old, new)


def _write_found(before: Path, tables: Path) -> None:
    """Fill in what the text units state, as the table of before says."""
    found = {row["id"]: row for row in read_rows(before, "text_units", ["id", *_FOUND])}
    units = [{**row, **found[row["id"]]} for row in read_rows(tables, "text_units")]
    write_rows(tables, "text_units", units)
