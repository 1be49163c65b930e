"""Where text units stand, for messages."""

from __future__ import annotations

from pathlib import Path

from holodeck.lib.documents import Place
from holodeck.lib.graphrag.tables import read_rows

__all__ = ["read_places"]


def read_places(folder: Path) -> dict[str, str]:
    """Return text unit id → the first of its places."""
    places: dict[str, list[Place]] = {}
    for row in read_rows(folder, "sources"):
        place = Place(path=row["path"], page=row["page"], row=row["row"])
        places.setdefault(row["text_unit_id"], []).append(place)
    # By what is printed: a place without a page does not compare with one that has it.
    return {key: min(map(str, found)) for key, found in places.items()}
