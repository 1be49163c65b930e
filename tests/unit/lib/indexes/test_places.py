"""Places in arrays."""

from __future__ import annotations

import pytest

from holodeck.lib.documents import Place
from holodeck.lib.indexes.places import Places, place_arrays

pytestmark = pytest.mark.unit

LISTS = [
    (Place(path="a.txt"), Place(path="b.pdf", page=2)),
    (),
    (Place(path="北京.csv", row=7), Place(path="a.txt", page=1, row=1)),
]


def test_places_come_back_as_they_were() -> None:
    """Path, page and row, also where a text stands nowhere."""
    places = Places(place_arrays(LISTS))

    assert list(places) == LISTS
    assert places[1:] == LISTS[1:]
    assert places.span(2) == (2, 4)
    with pytest.raises(IndexError):
        places[3]


def test_no_texts_have_no_places() -> None:
    """An empty index is one like any other."""
    assert list(Places(place_arrays([]))) == []
