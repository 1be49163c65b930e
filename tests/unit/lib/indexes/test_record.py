"""The commit record is read whole or not at all, and replaced in one step."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from holodeck.lib.indexes.record import read_record, write_record


def parse(content: Mapping[str, Any]) -> str:
    name: str = content["name"]
    return name


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Any script survives, and nothing is left beside the record."""
    path = tmp_path / "new" / "index.meta"

    write_record(path, {"name": "北京"})
    write_record(path, {"name": "Køge"})

    assert read_record(path, parse) == "Køge"
    assert [file.name for file in path.parent.iterdir()] == ["index.meta"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"other": 1}', b"[" * 100_000],
    ids=["empty", "cut", "binary", "list", "foreign", "deep"],
)
def test_a_damaged_record_is_no_index_and_says_so(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing that stands in the file makes reading it fail."""
    path = tmp_path / "index.meta"
    path.write_bytes(content)

    assert read_record(path, parse) is None
    assert "is not an index record of ours" in caplog.text


def test_no_record_is_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """There being no index is ordinary, also where a file is in the folder's place."""
    (tmp_path / "file").touch()

    assert read_record(tmp_path / "index.meta", parse) is None
    assert read_record(tmp_path / "file" / "index.meta", parse) is None
    assert caplog.text == ""


def test_a_failed_write_leaves_the_old_record(tmp_path: Path) -> None:
    """Content that cannot be written replaces nothing and leaves nothing."""
    path = tmp_path / "index.meta"
    write_record(path, {"name": "old"})

    with pytest.raises(TypeError):
        write_record(path, {"name": object()})

    assert read_record(path, parse) == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["index.meta"]


def test_a_damaged_record_is_told_once_for_each_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A command that reads the record again and again warns once, and again when it changed."""
    path = tmp_path / "index.meta"
    path.write_text("{", encoding="utf-8")
    for _ in range(3):
        assert read_record(path, dict) is None
    assert len(caplog.records) == 1
    os.utime(path, ns=(1, 1))
    assert read_record(path, dict) is None
    assert len(caplog.records) == 2
