"""Which places of the documents a search may look at."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from holodeck.lib.results import Source

__all__ = ["passes"]


def passes(source: Source, wanted: Mapping[str, str | int]) -> bool:
    """Tell whether a place has everything that is wanted.

    ``path`` is a pattern (``people/*.md``); ``page``, ``row`` and ``id`` are those of the place;
    any other name is a field of its record.
    """
    return all(_has(source, name, value) for name, value in wanted.items())


def _has(source: Source, name: str, value: str | int) -> bool:
    if name == "path":
        return fnmatchcase(source.path, str(value))
    found = {"page": source.page, "row": source.row, "id": source.record_id}.get(name)
    if found is None:
        found = source.metadata.get(name)
    return found is not None and str(found) == str(value)
