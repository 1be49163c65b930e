"""Which places of the documents a search may look at."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.places import Places
from holodeck.lib.indexes.texts import Texts
from holodeck.lib.vectorstore.records import Records

__all__ = ["wanted_places"]

Flags = NDArray[np.bool_]


def wanted_places(places: Places, records: Records, wanted: Mapping[str, str | int]) -> Flags:
    """Tell of each place whether it has everything that is wanted.

    ``path`` is a path or a pattern (``people/*.md``); ``page``, ``row`` and ``id`` are those of the
    place; any other name is a field of its record, and so are these where the place has none.
    """
    found = np.ones(len(places.arrays["path_rows"]), dtype=np.bool_)
    for name, value in wanted.items():
        found &= _have(places, records, name, str(value))
    return found


def _have(places: Places, records: Records, name: str, value: str) -> Flags:
    if name == "path":
        paths = Texts(places.arrays["paths"], places.arrays["paths_ends"])
        wanted = _composed(value)
        matching = np.array([_fits(_composed(path), wanted) for path in paths], np.bool_)
        return matching[places.arrays["path_rows"]] if len(paths) else matching
    as_field = records.with_field(name, value)
    if name == "id":
        return np.where(records.has_id, records.with_id(value), as_field)
    if name in _NUMBERS:
        numbers = places.arrays[_NUMBERS[name]]
        return np.where(numbers >= 0, _are(numbers, value), as_field)
    return as_field


def _composed(path: str) -> str:
    """Return an accented letter as one character: some systems write names with two."""
    return unicodedata.normalize("NFC", path)


def _fits(path: str, wanted: str) -> bool:
    return path == wanted or fnmatchcase(path, wanted)


_NUMBERS = {"page": "pages", "row": "records"}


def _are(numbers: NDArray[np.int64], value: str) -> Flags:
    """Compare as text, as fields are: page 3 is ``3`` and not ``03``."""
    if not (value.isascii() and value.isdigit()) or str(int(value[:18])) != value:
        return np.zeros(len(numbers), dtype=np.bool_)
    return np.asarray(numbers == int(value))
