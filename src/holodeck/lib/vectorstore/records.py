"""What comes with the record at each place, in arrays: its id and its fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.documents import Place
from holodeck.lib.indexes.checked_arrays import CheckedArrays
from holodeck.lib.indexes.text_units import PlacedRecord
from holodeck.lib.indexes.texts import Finder, Texts, text_arrays, text_at
from holodeck.lib.vectorstore.chunks import StoredPlace

__all__ = ["Records", "record_arrays"]

_NONE = -1


def record_arrays(places: Iterable[StoredPlace]) -> dict[str, NDArray[Any]]:
    """Return the record of each place as arrays; a record, a name and a value are held once.

    Args:
        places: All of them, in order; a record that was cut into chunks comes once for each.
    """
    names: dict[str, int] = {}
    values: dict[str, int] = {}
    records: dict[Place, int] = {}
    ids: list[int] = []
    fields: list[tuple[int, int]] = []
    starts = [0]
    rows: list[int] = []
    for at in places:
        row = records.setdefault(at.place, len(records))
        rows.append(row)
        if row < len(ids):
            continue
        key = at.record.id
        ids.append(_NONE if key is None else values.setdefault(key, len(values)))
        for name, value in at.record.metadata.items():
            fields.append(
                (names.setdefault(name, len(names)), values.setdefault(value, len(values)))
            )
        starts.append(len(fields))
    columns = np.array(fields, dtype=np.int32).reshape(-1, 2)
    finder = Finder.of(list(values))
    return {
        **text_arrays("names", names),
        **text_arrays("values", values),
        "marks": finder.marks,
        "marked": finder.rows,
        "rows": np.array(rows, dtype=np.int32),
        "ids": np.array(ids, dtype=np.int32),
        "starts": np.array(starts, dtype=np.int64),
        "field_names": columns[:, 0].copy(),
        "field_values": columns[:, 1].copy(),
    }


class Records:
    """The record of each place.

    Args:
        arrays: What ``record_arrays`` returned.
    """

    def __init__(self, arrays: CheckedArrays) -> None:
        self._arrays = arrays

    def at(self, place: int) -> PlacedRecord:
        """Return the record of a place by its number."""
        arrays = self._arrays
        (record,) = arrays.part("rows", place, place + 1).tolist()
        (row,) = arrays.part("ids", record, record + 1).tolist()
        start, stop = arrays.part("starts", record, record + 2).tolist()
        names = arrays.part("field_names", start, stop).tolist()
        values = arrays.part("field_values", start, stop).tolist()
        return PlacedRecord(
            id=None if row == _NONE else text_at(arrays, "values", row),
            metadata={
                text_at(arrays, "names", name): text_at(arrays, "values", value)
                for name, value in zip(names, values, strict=True)
            },
        )

    @property
    def fields(self) -> list[str]:
        """The names of all fields."""
        return list(Texts(self._arrays["names"], self._arrays["names_ends"]))

    @property
    def has_id(self) -> NDArray[np.bool_]:
        """Which places have a record with an id."""
        return self._at_places(self._arrays["ids"] != _NONE)

    def with_id(self, value: str) -> NDArray[np.bool_]:
        """Tell of each place whether its record has an id."""
        row = self._row_of(value)
        return self._at_places((self._arrays["ids"] == row) & (row != _NONE))

    def with_field(self, name: str, value: str) -> NDArray[np.bool_]:
        """Tell of each place whether a field of its record has a value."""
        arrays = self._arrays
        names = self.fields
        found = np.zeros(len(arrays["ids"]), dtype=np.bool_)
        row = self._row_of(value)
        if name in names and row != _NONE:
            has = (arrays["field_names"] == names.index(name)) & (arrays["field_values"] == row)
            found[np.searchsorted(arrays["starts"], np.flatnonzero(has), side="right") - 1] = True
        return self._at_places(found)

    def _at_places(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each place what was found of its record."""
        at_places: NDArray[np.bool_] = found[self._arrays["rows"]]
        return at_places

    def _row_of(self, value: str) -> int:
        arrays = self._arrays
        values = Texts(arrays["values"], arrays["values_ends"])
        (rows,) = Finder(values, arrays["marks"], arrays["marked"]).find([value])
        return rows[0] if rows else _NONE
