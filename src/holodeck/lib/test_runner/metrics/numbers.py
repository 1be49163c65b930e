"""Numbers as they are written in answers."""

from __future__ import annotations

import math
import re

__all__ = ["numbers_in", "why_no_number"]

_SIGNS = "-‐‑‒–−－"
"""What is written for a minus: hyphens, the figure and en dash, the sign itself."""

_NUMBER = re.compile(
    rf"""
    (?<![\w.])(?<!\d,)              # not inside a word, a date or a version
    (?P<sign>[{_SIGNS}+])?
    (?:
        (?P<grouped>[1-9]\d{{0,2}}(?P<gap>[, \u00a0\u2009\u202f])\d{{3}}(?:(?P=gap)\d{{3}})*)
        (?P<rest>\.\d+)?
      | (?P<comma>\d+,\d+)
      | (?P<plain>\d+(?:\.\d+)?|\.\d+)
    )
    (?P<power>[eE][{_SIGNS}+]?\d+)?
    (?![.,]?\d)
    """,
    re.VERBOSE,
)
_TO_HYPHEN = str.maketrans(dict.fromkeys(_SIGNS, "-"))


def numbers_in(text: str) -> list[float]:
    """Return the numbers, in order; ``12,5`` is twelve and a half, ``12,500`` is thousands."""
    found = map(_value, _NUMBER.finditer(text))
    return [number for number in found if math.isfinite(number)]


def why_no_number(text: str) -> str | None:
    """Return why a text does not say one number to compare with, or ``None``."""
    count = len(numbers_in(text))
    if count != 1:
        return f"holds {count or 'none'}"
    if any(match["comma"] for match in _NUMBER.finditer(text)):
        return "has a comma that could be a decimal point (write 12.5, not 12,5)"
    return None


def _value(match: re.Match[str]) -> float:
    if match["grouped"]:
        digits = match["grouped"].replace(match["gap"], "") + (match["rest"] or "")
    else:
        digits = match["plain"] or match["comma"].replace(",", ".")
    written = (match["sign"] or "") + digits + (match["power"] or "")
    return float(written.translate(_TO_HYPHEN))
