"""References to records, as answers and reports carry them: ``[Data: Sources (3, 7)]``."""

from __future__ import annotations

from collections.abc import Iterable

import regex

__all__ = ["cite", "without_references"]

_MOST = 5  # records of one kind in a reference; more are "+more"
_REFERENCE = regex.compile(r"\s*\[\s*Data\s*:[^\[\]]*\]", regex.IGNORECASE)


def cite(records: Iterable[tuple[str, int]]) -> str:
    """Return the reference to ``records``, pairs of a table's name and a number."""
    numbers: dict[str, list[int]] = {}
    for table, number in dict.fromkeys(records):
        numbers.setdefault(table, []).append(number)
    parts = []
    for table, cited in numbers.items():
        shown = [str(number) for number in sorted(cited)[:_MOST]]
        more = ["+more"] if len(cited) > _MOST else []
        parts.append(f"{table} ({', '.join([*shown, *more])})")
    return f"[Data: {'; '.join(parts)}]"


def without_references(text: str) -> str:
    """Return ``text`` without the references of whoever wrote it: their numbers are not ours."""
    return str(_REFERENCE.sub("", text))
