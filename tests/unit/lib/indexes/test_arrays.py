"""Files of arrays that are opened by mapping them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holodeck.lib.indexes.arrays import Arrays, map_arrays, write_arrays

pytestmark = pytest.mark.unit

ABOUT = {"tables": "those"}
ARRAYS: Arrays = {
    "numbers": np.arange(7, dtype=np.int32),
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
    "nothing": np.zeros((0, 3)),
    "flags": np.array([True, False]),
}


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    """Values, shapes and kinds; mapped, so that they cannot be changed."""
    write_arrays(tmp_path / "a", ARRAYS, ABOUT)
    found = map_arrays(tmp_path / "a", ABOUT)

    assert found is not None
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert np.array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert not found[name].flags.writeable


def test_no_byte_can_change_unseen(tmp_path: Path) -> None:
    """Whichever byte of header or content is spoiled, the file counts as none."""
    path = tmp_path / "a"
    write_arrays(path, ARRAYS, ABOUT)
    whole = path.read_bytes()
    padding = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        if map_arrays(path, ABOUT) is not None:
            padding += 1
            assert whole[place] == 0

    assert padding < 64 * len(ARRAYS)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_off_counts_as_none(tmp_path: Path, share: float) -> None:
    """A disk that was full leaves no half an index."""
    path = tmp_path / "a"
    write_arrays(path, ARRAYS, ABOUT)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])

    assert map_arrays(path, ABOUT) is None


def test_what_was_derived_of_something_else_counts_as_none(tmp_path: Path) -> None:
    """Other tables, another version, or no file at all."""
    write_arrays(tmp_path / "a", ARRAYS, ABOUT)

    assert map_arrays(tmp_path / "a", {"tables": "others"}) is None
    assert map_arrays(tmp_path / "b", ABOUT) is None


def test_objects_are_refused(tmp_path: Path) -> None:
    """Numbers only: to open a file never runs anything."""
    with pytest.raises(TypeError, match="not numbers"):
        write_arrays(tmp_path / "a", {"x": np.array([object()])}, ABOUT)

    assert list(tmp_path.iterdir()) == []
