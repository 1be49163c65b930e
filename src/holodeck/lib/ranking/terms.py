"""Text → the terms that full-text search goes by, for any script.

LanceDB is given terms with blanks between them and splits at the blanks; its own word splitter
takes a Chinese sentence for one word. Scripts without blanks between words become single characters
and pairs of them. Accents and English endings are LanceDB's part (see ``store``).
"""

from __future__ import annotations

import unicodedata

import regex

__all__ = ["TERMS_VERSION", "question_terms", "text_terms"]

TERMS_VERSION = 1
"""Raised when the same text gives other terms; part of every config hash."""

_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ー"
)
_RUN = regex.compile(rf"[{_UNSPACED}]+|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+", regex.V1)
_IS_UNSPACED = regex.compile(rf"[{_UNSPACED}]", regex.V1)

# Left out of a question, never out of a document: what an English question is put with.
_ASKING_WORDS = (
    "a an and are as at be by did do does for from had has have how in is it its of on or that the"
    " their there these they this those to was were what when where which who whom whose why with"
    " would"
)
_ASKING = frozenset(_ASKING_WORDS.split())


def text_terms(text: str) -> list[str]:
    """Return the terms of a text that is to be found."""
    terms: list[str] = []
    for run in _runs(text):
        if _IS_UNSPACED.match(run):
            terms += run
            terms += _pairs(run)
        else:
            terms.append(run)
    return terms


def question_terms(question: str) -> list[str]:
    """Return the terms of a question, each once.

    Words that only ask are left out, unless there are no others: the band 'The Who' can be found.
    """
    terms: dict[str, None] = {}
    for run in _runs(question):
        is_pairs = _IS_UNSPACED.match(run) and len(run) > 1
        terms |= dict.fromkeys(_pairs(run) if is_pairs else [run])
    telling = [term for term in terms if term not in _ASKING]
    return telling or list(terms)


def _runs(text: str) -> list[str]:
    found: list[str] = _RUN.findall(unicodedata.normalize("NFKC", text).casefold())
    return found


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]
