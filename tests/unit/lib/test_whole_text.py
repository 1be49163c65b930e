"""Texts that every encoding can write, and files that are never half."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holodeck.lib.whole_text import replacing, well_formed, write_whole


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("plain \U0001f600", "plain \U0001f600"),
        ("a\ud83d\ude00b", "a\U0001f600b"),
        ("a\ud83db", "a\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_halves_are_joined_and_lone_ones_replaced(text: str, mended: str) -> None:
    """Both halves in order are one character; each other half is U+FFFD."""
    assert well_formed(text) == mended


def test_a_file_survives_a_write_that_fails(tmp_path: Path) -> None:
    """Where there is no room for the new text beside it, the old one is as it was."""
    file = tmp_path / "report.json"
    write_whole(file, "first \ud83d")
    (tmp_path / f"report.json.{os.getpid()}.tmp").mkdir()
    with pytest.raises(OSError, match="report"):
        write_whole(file, "second")
    assert file.read_text("utf-8") == "first \ufffd"


def test_a_link_stays_a_link_and_a_mode_a_mode(tmp_path: Path) -> None:
    """The file behind a link is replaced, with the rights that it had."""
    file, link = tmp_path / "real.md", tmp_path / "link.md"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, "new")
    assert link.is_symlink()
    assert file.read_text("utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """Who is interrupted in writing leaves the file of before, and nothing beside it."""
    file = tmp_path / "a"
    with replacing(file) as staged:
        staged.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="in the middle"), replacing(file) as staged:
        staged.write_text("half", encoding="utf-8")
        assert file.read_text(encoding="utf-8") == "old"
        raise RuntimeError("in the middle")

    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]
