"""What is found of a file that is not as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from holodeck.lib.indexes.files import find_damage, mark_files

pytestmark = pytest.mark.unit


def make(root: Path) -> Path:
    file = root / "part" / "deep" / "table"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"abcdef")
    (root / "part" / ".lease").touch()
    (root / "part" / "derived").write_bytes(b"x")
    return file


def test_marks_are_of_what_cannot_be_made_again(tmp_path: Path) -> None:
    """Paths are relative and the same on every system; hidden and derived files are left out."""
    make(tmp_path)
    marks = mark_files(tmp_path, [tmp_path / "part"], leave_out=["derived"])

    assert marks == {"part/deep/table": (6, 0x4B8E39EF)}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """What the system says of it is the reason; nobody takes it for whole, or for missing."""
    file = make(tmp_path)
    file.unlink()
    file.mkdir()
    marks = {"part/deep/table": (file.stat().st_size, 0)}

    told = f"{file} cannot be read (Is a directory)"
    assert find_damage(tmp_path, marks, by_content=True) == told


@pytest.mark.parametrize(
    ("content", "told", "by_content"),
    [
        (None, "cannot be found (No such file or directory)", False),
        (b"", "has 0 bytes, and 6 were written", False),
        (b"abc", "has 3 bytes, and 6 were written", False),
        (b"abcdeX", "holds other bytes than were written", True),
    ],
)
def test_the_damaged_file_is_named(
    content: bytes | None, told: str, by_content: bool, tmp_path: Path
) -> None:
    """Sizes are looked at always, bytes where it is asked for."""
    file = make(tmp_path)
    marks = mark_files(tmp_path, [tmp_path / "part"])
    assert find_damage(tmp_path, marks, by_content=True) is None
    file.unlink()
    if content is not None:
        file.write_bytes(content)

    assert find_damage(tmp_path, marks, by_content=True) == f"{file} {told}"
    assert (find_damage(tmp_path, marks) is None) is by_content
