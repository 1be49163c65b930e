"""Hashes of contents that are remembered, and files that change in ways that are hard to see."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from holodeck.lib.readers.content_hashes import ContentHashes

pytestmark = pytest.mark.unit


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def in_a_minute() -> int:
    """Return a time at which what a test wrote is old."""
    return time.time_ns() + 60_000_000_000


def remembered(path: Path, kept: Path) -> None:
    """Remember the file, then put another hash in the place of its own."""
    hashes = ContentHashes(kept, now=in_a_minute)
    hashes.of(path)
    hashes.save()
    content = json.loads(kept.read_text("ascii"))
    marks = {name: (mark, "remembered") for name, (mark, _) in content.items()}
    kept.write_text(json.dumps(marks), encoding="ascii")


def test_a_file_that_was_just_written_is_read_each_time(tmp_path: Path) -> None:
    """Within one tick of the clock it may change, and nothing but its bytes would tell."""
    path = tmp_path / "a"
    hashes = ContentHashes(tmp_path / "kept.json")
    found = []
    for content in (b"one", b"two", b"six"):
        path.write_bytes(content)
        os.utime(path, ns=(5, 5))
        found.append(hashes.of(path))

    assert found == [sha256(b"one"), sha256(b"two"), sha256(b"six")]


def test_a_file_that_did_not_change_is_read_once(tmp_path: Path) -> None:
    """Also by another process."""
    path, kept = tmp_path / "a", tmp_path / "kept.json"
    path.write_bytes(b"one")
    remembered(path, kept)

    assert ContentHashes(kept).of(path) == "remembered"


def test_an_edit_of_the_same_size_with_the_old_time_is_seen(tmp_path: Path) -> None:
    """Who sets a file's time back changes the time of that change."""
    path, kept = tmp_path / "a", tmp_path / "kept.json"
    path.write_bytes(b"one")
    os.utime(path, ns=(5, 5))
    remembered(path, kept)
    before = path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == before:
        path.write_bytes(b"two")
        os.utime(path, ns=(5, 5))

    assert ContentHashes(kept).of(path) == sha256(b"two")


def test_another_file_in_its_place_is_seen(tmp_path: Path) -> None:
    """Of the same size and time, as a copy that keeps times leaves it."""
    path, other, kept = tmp_path / "a", tmp_path / "b", tmp_path / "kept.json"
    for file, content in ((path, b"one"), (other, b"two")):
        file.write_bytes(content)
        os.utime(file, ns=(5, 5))
    remembered(path, kept)
    other.replace(path)

    assert ContentHashes(kept).of(path) == sha256(b"two")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": [1, 2]}', "\xff"])
def test_what_cannot_be_used_is_read_again(content: str, tmp_path: Path) -> None:
    """It saved time and nothing else."""
    path, kept = tmp_path / "a", tmp_path / "kept.json"
    path.write_bytes(b"one")
    kept.write_text(content, encoding="latin-1")

    assert ContentHashes(kept).of(path) == sha256(b"one")


def test_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    """What is kept are the files of the last look."""
    path, other, kept = tmp_path / "a", tmp_path / "b", tmp_path / "kept.json"
    path.write_bytes(b"one")
    other.write_bytes(b"two")
    first = ContentHashes(kept, now=in_a_minute)
    first.of(path)
    first.of(other)
    first.save()
    first.forget_others([path])
    first.save()

    assert list(json.loads(kept.read_text("ascii"))) == [str(path)]


def test_a_place_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    """The hash is right, and the next look reads the file again."""
    path = tmp_path / "a"
    path.write_bytes(b"one")
    hashes = ContentHashes(tmp_path / "missing" / "kept.json", now=in_a_minute)
    found = hashes.of(path)
    hashes.save()

    assert found == sha256(b"one")
    assert not (tmp_path / "missing").exists()
