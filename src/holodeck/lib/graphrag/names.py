"""When two names are one entity, and when a name is none."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

__all__ = ["LONGEST_NAME", "absurdity", "name_key", "tidy_name"]

LONGEST_NAME = 200
"""Characters of a name; what is longer is a sentence in the wrong field."""

_REMEMBERED = 1 << 15
"""Names whose form is remembered: one is met many times in a build."""

_QUOTES = "\"'“”„‟‘’‚‛«»‹›`"
_TRAILING = ".,;:!?"
_SPACE = re.compile(r"\s+")
# Marks without width that copying leaves behind; joiners, which some scripts spell with, stay.
_NO_WIDTH = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad"))
_ALIKE = str.maketrans({"’": "'", "‘": "'", "‐": "-", "‑": "-"})
_WRAPPED = re.compile(r"\{+([^{}]*)\}+|<([^<>]*)>|\[([^\[\]]*)\]")
_NO_NAME = frozenset({"none", "null", "n/a", "nan", "undefined"})


@lru_cache(_REMEMBERED)
def tidy_name(name: str) -> str:
    """Return a name as it is shown: escapes resolved, width folded, quotes and blanks trimmed."""
    plain = unicodedata.normalize("NFKC", _unescaped(name)).translate(_NO_WIDTH)
    plain = _SPACE.sub(" ", plain).strip()
    wrapped = _WRAPPED.fullmatch(plain)
    if wrapped is not None:
        plain = next(part for part in wrapped.groups() if part is not None)
    return plain.strip().strip(_QUOTES).strip()


def _unescaped(name: str) -> str:
    """Resolve HTML escapes, also doubled ones."""
    for _ in range(3):
        plain = html.unescape(name)
        if plain == name:
            break
        name = plain
    return name


@lru_cache(_REMEMBERED)
def name_key(name: str) -> str:
    """Return what the spellings of one name have in common.

    Case, width, composition, quotes, the form of apostrophes and hyphens and trailing marks fold
    away; real aliases stay apart.
    """
    tidy = tidy_name(name)
    bare = tidy.rstrip(_TRAILING + _QUOTES + " ").lstrip(_QUOTES + " ") or tidy
    return unicodedata.normalize("NFKC", bare.translate(_ALIKE).casefold())


def absurdity(name: str) -> str | None:
    """Return why a tidy name is none, or ``None``."""
    if not name:
        return "without a name"
    if len(name) > LONGEST_NAME:
        return f"with a name of over {LONGEST_NAME} characters"
    if not any(mark.isalnum() or unicodedata.category(mark) == "So" for mark in name):
        return "with a name of punctuation only"
    if name.strip("*").casefold() in _NO_NAME:
        return "with a name that stands for none"
    return None
