"""Text → the terms that search by words goes by, for any script.

Scripts without blanks between words become single characters and pairs of them. Accents and English
endings are left to ``stems``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import regex

__all__ = ["TERMS_VERSION", "question_terms", "text_terms", "text_words"]

TERMS_VERSION = 1
"""Raised when the same text gives other terms: what was derived of texts is made again."""

_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ー"
)
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_UNSPACED_RUN = regex.compile(rf"([{_UNSPACED}]+)")
# Short cuts, since a large source is half a minute faster by them: a text without a character of
# these blocks has none of those scripts.
_BLOCKS = re.compile(
    "[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\uffff\U00010000-\U0010ffff]"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")

# Left out of a question, never out of a document: what an English question is put with.
_ASKING_WORDS = (
    "a an and are as at be by did do does for from had has have how in is it its of on or that the"
    " their there these they this those to was were what when where which who whom whose why with"
    " would"
)
_ASKING = frozenset(_ASKING_WORDS.split())


def text_terms(text: str) -> list[str]:
    """Return the terms of a text that is to be found."""
    if text.isascii():  # most are, and nothing is to be folded in them but the case
        return _ASCII_WORD.findall(text.lower())
    terms: list[str] = []
    for run, is_unspaced in _runs(text):
        if is_unspaced:
            terms += run
            terms += _pairs(run)
        else:
            terms.append(run)
    return terms


def text_words(text: str) -> list[str]:
    """Return the words of a text in order; of a script without blanks, its characters."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    words: list[str] = []
    for run, is_unspaced in _runs(text):
        words += run if is_unspaced else [run]
    return words


def question_terms(question: str) -> list[str]:
    """Return the terms of a question, each once.

    Words that only ask are left out, unless there are no others: the band 'The Who' can be found.
    """
    terms: dict[str, None] = {}
    for run, is_unspaced in _runs(question):
        terms |= dict.fromkeys(_pairs(run) if is_unspaced and len(run) > 1 else [run])
    telling = [term for term in terms if term not in _ASKING]
    return telling or list(terms)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the runs of letters and digits, and whether a run is of a script without blanks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not _BLOCKS.search(folded):
        words = (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)
        yield from ((word, False) for word in words)
        return
    for word in _WORD.findall(folded):
        # Every second part is what the brackets of the expression caught.
        parts = enumerate(_UNSPACED_RUN.split(word))
        yield from ((part, number % 2 == 1) for number, part in parts if part)


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]
