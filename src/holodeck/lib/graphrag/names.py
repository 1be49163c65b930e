"""When two names are one entity."""

from __future__ import annotations

import html
import re
import unicodedata

__all__ = ["name_key", "tidy_name"]

_QUOTES = "\"'“”„‟‘’‚‛«»‹›`"
_TRAILING = ".,;:!?"
_SPACE = re.compile(r"\s+")


def tidy_name(name: str) -> str:
    """Return a name as it is shown: escapes resolved, width folded, quotes and blanks trimmed."""
    plain = unicodedata.normalize("NFKC", html.unescape(name))
    return _SPACE.sub(" ", plain).strip().strip(_QUOTES).strip()


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: case and trailing marks fold away."""
    tidy = tidy_name(name)
    return (tidy.rstrip(_TRAILING).rstrip() or tidy).casefold()
