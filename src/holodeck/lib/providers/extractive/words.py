"""Text → the terms that sentences and questions are compared by, in any script."""

from __future__ import annotations

import unicodedata

import regex

__all__ = ["STOP_WORDS", "content_terms", "sentence_key", "word_set"]

_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}ー々]+|[\p{Hangul}]+|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+"
    r"|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}]+)*"
)
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}ー々\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
)
_POSSESSIVE = regex.compile(r"['’]s$|['’]$")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them."""
    return frozenset(words.split())


STOP_WORDS = word_set(
    "a about after again all also am among an and any are as at be because been before being both "
    "but by can could did do does doing during each either else ever few for from further had has "
    "have having he her here hers him his how i if in into is it its itself just may me might more "
    "most much must my no nor not now of off on once one only or other our out over own please "
    "same shall she should so some such tell than that the their them then there these they this "
    "those through to too under until up upon us very was we were what when where whether which "
    "while who whom whose why will with would you your describe explain give list mention "
    "documents document"
)
"""English words that say nothing of a topic; in other languages rarity alone decides."""


def content_terms(text: str) -> list[str]:
    """Return the terms of ``text`` in order, stop words left out.

    English words are cut to a stem; a script that puts no blanks between words (and Korean, which
    glues particles on) is taken as pairs of characters.
    """
    terms: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _UNSPACED.match(word):
            terms.extend(word[at : at + 2] for at in range(max(1, len(word) - 1)))
            continue
        bare = _POSSESSIVE.sub("", word)
        if bare not in STOP_WORDS:
            terms.append(_stem(bare))
    return terms


def sentence_key(sentence: str) -> str:
    """Return what two copies of a sentence have in common: its letters and digits, caseless."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return "".join(character for character in folded if character.isalnum())


def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        bare = word.removesuffix(ending)
        if bare != word and len(bare) >= 3 and regex.search("[aeiouy]", bare):
            return bare[:-1] if bare[-1] == bare[-2] and bare[-1] not in "ls" else bare.rstrip("e")
    return word.rstrip("e") if len(word) > 4 else word
