"""What a server sent as vectors → rows of one width and of length 1."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from holodeck.lib.providers.vectors import UnusableVectorError, numbers_of, unit_rows


def test_numbers_come_in_a_list_or_packed() -> None:
    """Both forms of one vector are the same."""
    packed = base64.b64encode(np.array([1.5, -2.0], dtype="<f4").tobytes()).decode("ascii")

    assert numbers_of(packed).tolist() == numbers_of([1.5, -2.0]).tolist() == [1.5, -2.0]


@pytest.mark.parametrize("sent", ["abc", [[1.0], [2.0, 3.0]], ["one"], {"a": 1}, [None, {}]])
def test_what_holds_no_numbers_cannot_be_used(sent: object) -> None:
    """Whatever a server may send in their place."""
    with pytest.raises(UnusableVectorError):
        numbers_of(sent)


@pytest.mark.parametrize("sent", [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]], 5.0])
def test_a_vector_for_each_token_names_the_mend(sent: object) -> None:
    """A text gets one vector; a server that was started without pooling sends many."""
    for rows in ([numbers_of(sent)], [numbers_of([1.0, 2.0]), numbers_of(sent)]):
        with pytest.raises(UnusableVectorError, match="start it with pooling"):
            unit_rows(rows, ["Ann", "Bob"][: len(rows)])
