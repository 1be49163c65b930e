"""The weight of a relationship, as models write it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

__all__ = ["GREATEST_WEIGHT", "split_weight"]

GREATEST_WEIGHT = 100.0

_PLAIN = r"[-+]?(?:\d{1,9}(?:\.\d{0,9}|,\d{1,2})?|[.,]\d{1,9})(?:e[-+]?\d{1,2})?"
_NUMBER = re.compile(_PLAIN, re.IGNORECASE)
# What belongs to the number: "9/10", "9 out of 10", "8-9", "7 or 8"; the first one counts.
_SCALE = r"(?:\s*(?:/|out of|of|to|or|[-–—])\s*\d{1,9}(?:\.\d{1,9})?)?"
_AMONG_WORDS = re.compile(rf"[^\d]{{0,40}}?({_PLAIN}){_SCALE}\s*(%?)[^\d]{{0,20}}", re.IGNORECASE)
_LABELLED = re.compile(
    rf"(?:\w+[_ ])?(?:strength|weight|score|rating)\W{{1,5}}({_PLAIN}){_SCALE}(%?)(?!\d)",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<=\d)\s{0,9}\([^()]{0,80}\)?\Z")
_NONE = frozenset({"", "nan", "inf", "-inf", "infinity", "none", "null", "n/a", "unknown"})


def split_weight(fields: Sequence[str], repairs: Counter[str]) -> tuple[Sequence[str], float]:
    """Return the fields of the description, and the weight, which is 1 where there is none.

    The weight is in the last field; where another field follows it, it is the last one that is a
    number. What was mended is added to ``repairs``.
    """
    if len(fields) > 2:
        repairs["extra field"] += 1
    for at in _places(fields):
        weight = _weight(_bare(fields[at]))
        if weight is not None:
            if not _NUMBER.fullmatch(_bare(fields[at])):
                repairs["number among words"] += 1
            return [*fields[:at], *fields[at + 1 :]], _in_bounds(weight, repairs)
    repairs["missing weight"] += 1
    if len(fields) > 1 and _bare(fields[-1]).casefold() in _NONE:
        return fields[:-1], 1.0
    return fields, 1.0


def _places(fields: Sequence[str]) -> list[int]:
    """Return the fields that may hold the weight, the likeliest first."""
    last = len(fields) - 1
    numbers = [at for at in range(last, -1, -1) if _NUMBER.fullmatch(_bare(fields[at]))]
    # A year may follow the weight, and is none.
    usual = [at for at in numbers if _value(_bare(fields[at])) <= GREATEST_WEIGHT]
    if last in numbers and last not in usual and usual:
        return usual
    return numbers if last == 0 or last in numbers else [last, *numbers]


def _weight(text: str) -> float | None:
    """Return the number of a field that is one, or that holds one among words."""
    if _NUMBER.fullmatch(text):
        return _value(text)
    plain = _REMARK.sub("", unicodedata.normalize("NFKC", text))
    found = _AMONG_WORDS.fullmatch(plain) or _LABELLED.match(plain)
    if found is None:
        return None
    # Strengths are given on a scale of ten.
    weight = _value(found[1]) / (10 if found[2] else 1)
    return weight if weight <= GREATEST_WEIGHT else None  # a year among words is no strength


def _value(number: str) -> float:
    return float(number.replace(",", "."))


def _bare(text: str) -> str:
    return text.strip("\"'“”` \t\n()[]{}*")


def _in_bounds(weight: float, repairs: Counter[str]) -> float:
    """Keep a weight usable: a relationship that was stated is there, and none outweighs all."""
    if weight <= 0:
        repairs["weight out of range"] += 1
        return 1.0
    if weight > GREATEST_WEIGHT:
        repairs["weight out of range"] += 1
        return GREATEST_WEIGHT
    return weight
