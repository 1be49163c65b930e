"""When two names are one entity, and when a name is none."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

from holodeck.lib.replies.marks import NO_WIDTH

__all__ = ["LONGEST_NAME", "absurdity", "name_key", "tidy_name"]

LONGEST_NAME = 200
"""Characters of a name; what is longer is a sentence in the wrong field."""

_REMEMBERED = 1 << 15
"""Names whose form is remembered: one is met many times in a build."""

_QUOTES = "\"'“”„‟‘’‚‛«»‹›`「」『』《》"
_TRAILING = ".,;:!?。、"
_DOTTED = re.compile("i\u0307+")
_SPACE = re.compile(r"\s+")
_CONTROLS = dict.fromkeys([*range(9), *range(14, 28), 127])
# Letters that casing does not bring together: Turkish spells one name with both, and an emoji is
# the same without the mark that colours it.
_ALIKE = str.maketrans(
    {
        "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "–": "-", "−": "-", "ı": "i",
        "\ufe0e": None, "\ufe0f": None,
    }
)  # fmt: skip
_WRAPPED = re.compile(r"\{+([^{}]*)\}+|<([^<>]*)>|\[+([^\[\]]*)\]+|\*{1,3}([^*]+)\*{1,3}|__(\w+)__")
# "Nan" is a name, "nan" a number that is none.
_NO_NAME = frozenset({"none", "null", "n/a", "undefined"})
_NO_NUMBER = frozenset({"nan", "NaN"})


@lru_cache(_REMEMBERED)
def tidy_name(name: str) -> str:
    """Return a name as it is shown: escapes resolved, width folded, quotes and blanks trimmed."""
    plain = _unescaped(name).translate(_CONTROLS).translate(NO_WIDTH)
    plain = _SPACE.sub(" ", unicodedata.normalize("NFKC", plain)).strip()
    for _ in range(4):
        bare = _unwrapped(plain)
        if bare == plain:
            break
        plain = bare
    return plain


def _unwrapped(name: str) -> str:
    """Take one layer of quotes, brackets or emphasis off."""
    wrapped = _WRAPPED.fullmatch(name)
    bare = name if wrapped is None else next(part for part in wrapped.groups() if part is not None)
    return bare.strip().strip(_QUOTES).strip()


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
    key = _folded(tidy_name(name))
    while (again := _folded(tidy_name(key)) or key) != key:
        key = again
    return key


def _folded(tidy: str) -> str:
    alike = tidy.translate(_ALIKE)
    bare = alike.rstrip(_TRAILING + _QUOTES + " ").lstrip(_QUOTES + " ") or alike
    # The dot of the Turkish capital stays behind when it is made small.
    return unicodedata.normalize("NFKC", _DOTTED.sub("i", bare.casefold()))


def absurdity(name: str) -> str | None:
    """Return why a tidy name is none, or ``None``."""
    if not name:
        return "without a name"
    if len(name) > LONGEST_NAME:
        return f"with a name of over {LONGEST_NAME} characters"
    if not any(mark.isalnum() or unicodedata.category(mark) == "So" for mark in name):
        return "with a name of punctuation only"
    bare = name.strip("*" + _TRAILING)
    if bare.casefold() in _NO_NAME or bare in _NO_NUMBER:
        return "with a name that stands for none"
    return None
