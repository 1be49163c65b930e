"""What an index says of itself, and what is not believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holodeck.errors import ConfigError
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.vectorstore.storage import VectorFolder, VectorRecord
from holodeck.models.tool import VectorstoreTool

RECORD = VectorRecord(
    tool_name="atlas",
    source_path="docs",
    source_hash="1",
    indexed_at="2026-01-01T00:00:00+00:00",
    config_hash="2",
    generation="000001",
    settings={"chunk_size": "512"},
    file_count=2,
    document_count=3,
    chunk_count=4,
    skipped={"北京.xyz": "no reader"},
    warnings=("short row",),
)


@pytest.fixture
def folder(tmp_path: Path) -> VectorFolder:
    """An index's folder, created."""
    folder = VectorFolder(VectorstoreTool(name="atlas", source="docs"), tmp_path)
    folder.create()
    return folder


def test_the_folder_is_ours_and_lies_where_it_is_documented(
    folder: VectorFolder, tmp_path: Path
) -> None:
    """Below the project, by engine and tool, marked so that it is never read as documents."""
    assert folder.root == tmp_path / ".holodeck" / "vectorstore" / "atlas"
    assert (folder.root / OWN_FOLDER_MARK).exists()


def test_what_is_committed_is_read(folder: VectorFolder) -> None:
    """Every field survives; before the first commit there is no index."""
    assert folder.record() is None
    folder.commit(RECORD)

    assert folder.record() == RECORD


@pytest.mark.parametrize(
    "change",
    [
        {"generation": "../../docs"},
        {"generation": 1},
        {"settings": ["chunk_size"]},
        {"skipped": "all"},
        {"source_hash": None, "indexed_at": ...},
    ],
    ids=["path", "number", "list", "text", "missing"],
)
def test_a_foreign_record_is_no_index(
    folder: VectorFolder, change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """A record that cannot be ours is not believed, and never names a path elsewhere."""
    content = {**RECORD.to_dict(), **change}
    folder.record_path.write_text(
        json.dumps({key: value for key, value in content.items() if value is not ...}),
        encoding="utf-8",
    )

    assert folder.record() is None
    assert "it counts as no index" in caplog.text


def test_tidying_leaves_only_the_committed_generation(folder: VectorFolder) -> None:
    """What an earlier or a crashed build left goes, and the vectors kept for it."""
    for name in ("000001", "000007"):
        folder.store_folder(name).mkdir(parents=True)
    folder.unfinished("model").add(["a"], np.ones((1, 2), dtype=np.float32))
    folder.commit(RECORD)

    assert folder.new_generation() == "000008"
    folder.tidy()

    assert [path.name for path in (folder.root / "generations").iterdir()] == ["000001"]
    assert folder.unfinished("model").read() == ([], [])


def test_each_model_has_its_own_unfinished_vectors(folder: VectorFolder) -> None:
    """Vectors of one model are never taken for another's."""
    folder.unfinished("a", "256").add(["x"], np.ones((1, 2), dtype=np.float32))

    assert folder.unfinished("a", "128").read() == ([], [])
    assert folder.unfinished("a", "256").read()[0] == ["x"]


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """Where the folder cannot be made, the message says what is in the way."""
    (tmp_path / ".holodeck").touch()

    with pytest.raises(ConfigError, match=r"'atlas' cannot be kept in .*\.holodeck"):
        VectorFolder(VectorstoreTool(name="atlas", source="docs"), tmp_path).create()
