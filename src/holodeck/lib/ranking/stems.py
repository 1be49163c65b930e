"""Terms → what their forms have in common: accents and the commonest English endings fold away.

Rough on purpose: a stem is never shown, and both sides of a comparison are cut alike.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["stem"]

_SHORTEST = 3
"""Letters that a stem keeps: "bus" and "was" stay whole."""
_ENDINGS = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))
_KEPT = ("ss", "us", "is", "eed")
"""What ends in these has no ending."""


@lru_cache(maxsize=1 << 16)
def stem(term: str) -> str:
    """Return the stem of a case-folded term."""
    plain = "".join(c for c in unicodedata.normalize("NFD", term) if not unicodedata.combining(c))
    if not plain.isascii() or not plain.isalpha() or plain.endswith(_KEPT):
        return plain or term
    for ending, instead in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORTEST:
            plain = plain[: -len(ending)] + instead
            if ending in ("ing", "ed") and plain[-1] == plain[-2]:  # shipped, running
                plain = plain[:-1]
            break
    return plain[:-1] if plain.endswith("e") and len(plain) > _SHORTEST else plain
