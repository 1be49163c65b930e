"""Arrays of which every block is checked before it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from holodeck.lib.indexes.arrays import open_arrays, write_arrays
from holodeck.lib.indexes.checked_arrays import BLOCK, CheckedArrays, DamagedArraysError

pytestmark = pytest.mark.unit

ABOUT = {"tables": "those"}
WIDTH = 3_000  # bytes of a row: some lie across two blocks
ROWS = 40
MATRIX = np.random.default_rng(0).integers(0, 255, (ROWS, WIDTH), dtype=np.uint8)

Read = Callable[[CheckedArrays, int], NDArray[np.uint8]]

READS: tuple[Read, ...] = (
    lambda arrays, row: arrays.part("matrix", row, row + 1),
    lambda arrays, row: arrays.rows("matrix", np.array([row])),
)


def damaged_at(path: Path, row: int) -> CheckedArrays:
    """Return a file of which the last byte of a row was changed after it was written."""
    write_arrays(path, {"one.matrix": MATRIX, "other": np.arange(3)}, ABOUT)
    content = bytearray(path.read_bytes())
    place = content.index(MATRIX[row].tobytes())
    content[place + WIDTH - 1] ^= 1
    path.write_bytes(content)
    found = open_arrays(path, ABOUT)
    assert found is not None
    return found


def test_a_row_is_checked_before_it_is_read_and_no_other(tmp_path: Path) -> None:
    """Every row of a damaged block is refused by all ways to read it; the rest is as it was."""
    damaged = 17
    blocks = {(damaged * WIDTH + WIDTH - 1) // BLOCK}
    refused = []
    for row in range(ROWS):
        arrays = damaged_at(tmp_path / "a", damaged).group("one")
        touched = {row * WIDTH // BLOCK, (row * WIDTH + WIDTH - 1) // BLOCK}
        for read in READS:
            if touched & blocks:
                with pytest.raises(DamagedArraysError, match="'matrix'"):
                    read(arrays, row)
                refused.append(row)
            else:
                assert np.array_equal(read(arrays, row), MATRIX[row : row + 1])

    assert damaged in refused
    assert len(set(refused)) < ROWS


def test_a_whole_array_is_checked_whole(tmp_path: Path) -> None:
    """The damaged one is refused, every time; the other is not concerned."""
    arrays = damaged_at(tmp_path / "a", 0)

    for _ in range(2):
        with pytest.raises(DamagedArraysError):
            arrays["one.matrix"]
    assert arrays["other"].tolist() == [0, 1, 2]
    assert arrays.unread("one.matrix").shape == MATRIX.shape


def test_arrays_in_memory_are_read_without_checks() -> None:
    """What no file was read for is as good as one that was."""
    arrays = CheckedArrays.of({"one.matrix": MATRIX})

    assert CheckedArrays.of(arrays) is arrays
    assert np.array_equal(arrays.group("one").rows("matrix", np.array([3, 1])), MATRIX[[3, 1]])
    assert list(arrays) == ["one.matrix"]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 0.9999])
def test_what_is_cut_off_is_not_opened(tmp_path: Path, share: float) -> None:
    """The length is known before a block is read."""
    damaged_at(tmp_path / "a", 0)
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole[: int(share * len(whole))])

    assert open_arrays(tmp_path / "a", ABOUT) is None
