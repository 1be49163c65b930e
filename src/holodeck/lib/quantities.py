"""How many of what, in words: ``4 files``, ``1 entity``."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["counts_in_words", "number_of"]


def number_of(count: int | str, plural: str) -> str:
    """Return a number with what it counts, in the singular for exactly one.

    Args:
        count: The number; a text (``2 to 4``) when it is not exact.
        plural: The English plural, words joined by spaces or by underscores.
    """
    words = plural.replace("_", " ")
    if count in (1, "1"):
        words = (
            words.removesuffix("ies") + "y" if words.endswith("ies") else words.removesuffix("s")
        )
    return f"{count:,} {words}" if isinstance(count, int) else f"{count} {words}"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return the counts of an index as a sentence lists them: ``4 files, 1 entity``."""
    return ", ".join(number_of(count, name) for name, count in counts.items())
