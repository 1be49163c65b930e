"""Words as the metrics that compare texts see them, in any script."""

from __future__ import annotations

import regex

__all__ = ["words"]

# A letter of a script that has no blanks is a word; elsewhere a run of letters and digits is.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\p{L}\p{M}\p{N}]+"
)


def words(text: str) -> list[str]:
    """Return the words, in small letters, without punctuation."""
    return [match[0] for match in _WORD.finditer(text.casefold())]
