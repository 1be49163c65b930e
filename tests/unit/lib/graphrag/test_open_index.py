"""What is derived of an index for search: made once, checked, and made again where it must be."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import (
    DERIVED_FILE,
    derive_index,
    open_generation,
    open_index,
)
from holodeck.lib.graphrag.tables import ALWAYS, write_rows, write_vectors
from holodeck.lib.indexes.arrays import about_arrays, map_arrays, write_arrays

pytestmark = pytest.mark.unit

VECTOR = np.array([1, 0], dtype=np.float32)


def write_tables(folder: Path, text: str = "Ann runs Orion.") -> None:
    folder.mkdir(exist_ok=True)
    for table in ALWAYS:
        write_rows(folder, table, [])
    entity = {"id": "e", "human_readable_id": 0, "title": "Ann", "text_unit_ids": ["u"]}
    write_rows(folder, "entities", [entity])
    write_rows(folder, "text_units", [{"id": "u", "human_readable_id": 0, "text": text}])
    write_rows(folder, "sources", [{"text_unit_id": "u", "path": "a.txt", "page": 2}])
    (folder / "prompts.json").write_text("{}", encoding="utf-8")


def context(index: GraphIndex) -> str:
    asked = LocalQuestion(text="Ann", vector=VECTOR, level=2)
    return select_local(index, asked, "graph").context.text


def test_a_mapped_index_says_what_its_tables_say(tmp_path: Path) -> None:
    """Derived or held in memory: one context, one place."""
    write_tables(tmp_path)
    derive_index(tmp_path, tmp_path / "vectors")
    mapped = open_generation(tmp_path, tmp_path / "vectors")
    held = open_index(tmp_path, tmp_path / "vectors")

    assert context(mapped) == context(held) != ""
    assert list(mapped.text_units.places) == list(held.text_units.places)
    assert str(mapped.text_units.places[0][0]) == "a.txt, page 2"


def test_opening_an_index_of_others_writes_nothing_beside_it(tmp_path: Path) -> None:
    """What is derived of it lies where the caller says, or nowhere."""
    write_tables(tmp_path / "theirs")
    before = sorted((tmp_path / "theirs").iterdir())
    open_index(tmp_path / "theirs", tmp_path / "vectors")
    open_index(tmp_path / "theirs", tmp_path / "vectors", tmp_path / "ours" / "derived")

    assert sorted((tmp_path / "theirs").iterdir()) == before
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["derived"]


@pytest.mark.parametrize("damage", ["missing", "cut off", "spoiled"])
def test_what_is_missing_or_damaged_is_made_again(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A search goes on as if nothing had happened, and the file is whole afterwards."""
    write_tables(tmp_path)
    derive_index(tmp_path, tmp_path / "vectors")
    path = tmp_path / DERIVED_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:500] if damage == "cut off" else whole[:-1] + b"\xff")
    if damage == "missing":
        path.unlink()
    with caplog.at_level(logging.WARNING):
        index = open_generation(tmp_path, tmp_path / "vectors")

    assert "Ann runs Orion." in context(index)
    assert path.read_bytes() == whole
    assert ("making it again" in caplog.text) == (damage != "missing")


def test_what_another_release_prepared_is_made_again_without_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is damaged: the log says why, and the next opening finds it made."""
    write_tables(tmp_path)
    derive_index(tmp_path, tmp_path / "vectors")
    path = tmp_path / DERIVED_FILE
    whole, about = path.read_bytes(), dict(about_arrays(path))
    write_arrays(path, map_arrays(path, about) or {}, about | {"version": "of before"})
    with caplog.at_level(logging.INFO):
        index = open_generation(tmp_path, tmp_path / "vectors")

    assert "Ann runs Orion." in context(index)
    assert path.read_bytes() == whole
    said = [record for record in caplog.records if "making it again" in record.message]
    assert [record.levelname for record in said] == ["INFO"]
    assert "is of another release" in said[0].message


def test_other_tables_are_derived_anew(tmp_path: Path) -> None:
    """A foreign index that was built again is seen, not remembered."""
    write_tables(tmp_path / "theirs")
    open_index(tmp_path / "theirs", tmp_path / "vectors", tmp_path / "derived")
    write_tables(tmp_path / "theirs", "Ann runs Vegas.")
    again = open_index(tmp_path / "theirs", tmp_path / "vectors", tmp_path / "derived")

    assert "Ann runs Vegas." in context(again)


def test_a_folder_that_cannot_be_written_is_searched_from_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The warning says so; the search finds what it should."""
    write_tables(tmp_path / "theirs")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    index = open_index(tmp_path / "theirs", tmp_path / "vectors", tmp_path / "file" / "derived")

    assert "Ann runs Orion." in context(index)
    assert "searching from memory" in caplog.text


def test_a_prepared_index_is_searched_without_what_reads_tables(tmp_path: Path) -> None:
    """No store, no table reader and no data frame is imported for a context."""
    write_tables(tmp_path)
    write_vectors(tmp_path / "vectors", "entity_description", ["e"], [VECTOR[None]], 2)
    derive_index(tmp_path, tmp_path / "vectors")
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from holodeck.lib.graphrag.open_index import open_generation\n"
        "from holodeck.lib.graphrag.local_context import LocalQuestion, select_local\n"
        f"index = open_generation(Path({str(tmp_path)!r}), Path({str(tmp_path / 'vectors')!r}))\n"
        "asked = LocalQuestion(text='Ann', vector=np.ones(2, dtype=np.float32), level=2)\n"
        "assert select_local(index, asked, 'graph').context.entities[0].title == 'Ann'\n"
        "print(*sorted({'lancedb', 'pyarrow', 'pandas', 'graphrag'} & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert (done.stderr, done.stdout.strip()) == ("", "")
