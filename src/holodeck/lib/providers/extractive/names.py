"""Sentences → the names in them, by the rules of scripts that have capitals.

A name is a run of capitalised words and what may stand inside one: initials, "van der", "of the",
numbers. A word that is capital only because a sentence starts there is told apart by the lexicon
and by how the rest of the chunk writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from holodeck.lib.providers.extractive.lexicon import (
    DEMONYMS,
    MONTHS_AND_DAYS,
    is_common,
    is_function_word,
    tag,
)
from holodeck.lib.providers.extractive.uncased import find_uncased_names
from holodeck.lib.providers.extractive.words import word_set

__all__ = ["LONGEST_NAME", "Mention", "find_names"]

LONGEST_NAME = 10
"""Words that a name may have; longer runs are headlines."""

_CAPITAL = (
    r"(?:\p{Lu}\.(?:-?\p{Lu}\.)*"  # initials
    r"|(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|Ft|Capt|Col|Gen|Lt|Sgt|Rev|Jr|Sr)\.(?!\p{L})"
    r"|(?:[dDlL]['’]|(?:al|el|as|ar|ash)-)?(?:\p{Ll}{0,2}|\p{N}{1,3})\p{Lu}[\p{L}\p{M}\p{N}]*"
    r"(?:[-–'’&/.](?=\p{L}|\p{N})[\p{L}\p{M}\p{N}]+)*)"
)
_PARTICLE = (
    r"(?:de(?:\s+(?:la|las|los))?|del|della|di|da|do|dos|das|du|des|la|le|van(?:\s+(?:der|den|de))?"
    r"|von(?:\s+der)?|der|ten|ter|zu|bin|ibn|af|av|y|&|(?:of|for)(?:\s+the)?)"
)
# Not a year: "Apollo 11" and "ISO 4217", but "Scott 1912" are two things.
_NUMBER = r"(?:\p{N}{1,3}|(?:2[1-9]|[3-9]\p{N})\p{N}{2,3})(?![\p{N}\p{L}]|[.,:]\p{N}|\s*%)"
_RUN = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}@/_])(?:(?<=\b[Tt]he\s)[12]\p{{N}}{{3}}(?:[–-]\p{{N}}{{2,4}})?\s+)?{_CAPITAL}"
    rf"(?:\s+(?:{_PARTICLE}\s+)?{_CAPITAL}|\s+{_NUMBER})*"
)
_QUOTED = regex.compile(r"[“\"«]([^“”\"«»]{2,80})[”\"»]")
_ADDRESS = regex.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")
_POSSESSIVE = regex.compile(r"(?:['’]s|(?<=s)['’])$")
_COMPOUND_ADJECTIVE = regex.compile(r"[-–]\p{Ll}{4,}$")
_PLACE_IN_TEXT = word_set("chapter figure fig table section appendix page volume step note")
_CONTRACTION = regex.compile(r"\p{L}+['’](?:ll|m|re|ve|d|t)", regex.IGNORECASE)
_TAKES_FOR = word_set(
    "society center centre centers council institute foundation association organization "
    "organisation committee commission fund agency office department academy school award prize "
    "medal ministry campaign movement party"
)
_PARTICLES = word_set(
    "de la las los del della di da do dos das du des le van der den von ten ter zu bin ibn af av y "
    "& of for the"
)
_NUMERAL_AND_STOP = regex.compile(r"[IVX]\.")  # "World War I." ends a sentence
_TOKEN = regex.compile(r"\S+")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A name where a sentence has it: ``sentence[start:end]`` is what stands there.

    ``kind`` is the entity type if the finder knows it.
    """

    name: str
    start: int
    end: int
    kind: str = ""


def find_names(sentences: Sequence[str]) -> list[list[Mention]]:
    """Return the names of each sentence in order; the sentences are those of one chunk."""
    headings = [_is_heading(sentence) for sentence in sentences]
    prose = [text for text, heading in zip(sentences, headings, strict=True) if not heading]
    known = _written_inside(prose)
    found = [
        _find_in(sentence, known, is_heading=is_heading)
        for sentence, is_heading in zip(sentences, headings, strict=True)
    ]
    for mentions, others in zip(found, find_uncased_names(sentences), strict=True):
        mentions.extend(Mention(name=name, start=start, end=end) for name, start, end in others)
        mentions.sort(key=lambda mention: (mention.start, mention.end))
    return found


def _find_in(sentence: str, known: frozenset[str], *, is_heading: bool) -> list[Mention]:
    masked = _ADDRESS.sub(lambda match: " " * len(match.group()), sentence)
    mentions = []
    for match in _QUOTED.finditer(masked):
        if _is_quoted_title(match.group(1)):
            name = _without_article(match.group(1).strip())
            mentions.append(Mention(name=name, start=match.start(), end=match.end()))
            masked = masked[: match.start()] + "\n" * len(match.group()) + masked[match.end() :]
    for match in _RUN.finditer(masked):
        is_first = _starts_sentence(masked, match.start())
        for words, start, end in _parts(match, is_first=is_first, known=known):
            if _is_name(words, is_heading=is_heading, is_first=is_first, known=known):
                mentions.append(Mention(name=" ".join(words), start=start, end=end))
    return mentions


def _written_inside(sentences: Sequence[str]) -> frozenset[str]:
    """Return the words that stand capitalised where nothing but being a name asks for it."""
    words: set[str] = set()
    for sentence in sentences:
        for match in _RUN.finditer(sentence):
            inside = match.group().split()
            if _starts_sentence(sentence, match.start()):
                inside = inside[1:]
            words.update(_POSSESSIVE.sub("", word) for word in inside)
    return frozenset(words)


def _starts_sentence(sentence: str, at: int) -> bool:
    before = sentence[:at].rstrip()
    return not before or before[-1] in "\"'“‘«(:[*_—–-|." or before.isdigit()


def _is_heading(sentence: str) -> bool:
    """Tell whether capitals say nothing here, as in a title or in shouting."""
    words = [word for word in _WORD.findall(sentence) if word.casefold() not in _PARTICLES]
    if len(words) < 2:
        return False
    capitals = sum(word[0].isupper() for word in words)
    shouted = sum(word.isupper() and len(word) > 1 for word in words)
    is_closed = sentence.rstrip()[-1:] in ".!?"
    return shouted >= 0.6 * len(words) or (not is_closed and capitals >= 0.75 * len(words))


def _is_quoted_title(text: str) -> bool:
    words = text.split()
    if not words or len(words) > 8 or text.rstrip()[-1] in ".,;:!?…-–—":
        return False
    if not (words[0][0].isupper() or words[0][0].isdigit()) or not _WORD.search(text):
        return False
    if len(words) == 1:
        return not is_common(words[0]) and words[0].casefold() not in MONTHS_AND_DAYS
    return all(len(word) <= 4 or not word[0].islower() for word in words)


def _without_article(name: str) -> str:
    first, _, rest = name.partition(" ")
    return rest if rest and first.casefold() in ("the", "a", "an") else name


def _parts(
    match: regex.Match[str], *, is_first: bool, known: frozenset[str]
) -> list[tuple[list[str], int, int]]:
    """Cut a run where one name ends and another begins; each part with its place."""
    parts: list[list[tuple[str, int]]] = [[]]
    tokens = [
        (word.group(), match.start() + word.start()) for word in _TOKEN.finditer(match.group())
    ]
    for position, (word, start) in enumerate(tokens):
        if _COMPOUND_ADJECTIVE.search(word) or _CONTRACTION.fullmatch(word):
            parts.append([])
            continue
        if word.casefold() in MONTHS_AND_DAYS and _is_date(tokens, position):
            while parts[-1] and parts[-1][-1][0].isdigit():
                parts[-1].pop()
            parts.append([])
            continue
        if word in ("of", "for") and not _joins(tokens, position):
            parts.append([])
            continue
        if word in ("The", "A", "An") and parts[-1] and parts[-1][-1][0][0].isupper():
            parts.append([])
        parts[-1].append((word, start))
        if _POSSESSIVE.search(word):
            parts.append([])
    trimmed = []
    for number, part in enumerate(parts):
        words = [(_POSSESSIVE.sub("", word), start) for word, start in part]
        words = _trim(words, is_first=is_first and number == 0, known=known)
        if words:
            end = words[-1][1] + len(words[-1][0])
            trimmed.append(([word for word, _ in words], words[0][1], end))
    return trimmed


def _is_date(tokens: list[tuple[str, int]], position: int) -> bool:
    """Tell whether a month or weekday stands beside a number, or ends what stands before it."""
    beside = tokens[max(0, position - 1)][0], tokens[min(len(tokens) - 1, position + 1)][0]
    return any(word.isdigit() for word in beside) or position == len(tokens) - 1


def _joins(tokens: list[tuple[str, int]], position: int) -> bool:
    """Tell whether "of" or "for" is part of a name.

    "of" joins after a common noun ("Bank of England"), "for" only after a word for a body or a
    prize ("Center for Disease Control").
    """
    word, before = tokens[position][0], tokens[max(0, position - 1)][0]
    return before.casefold() in _TAKES_FOR if word == "for" else is_common(before)


def _trim(
    words: list[tuple[str, int]], *, is_first: bool, known: frozenset[str]
) -> list[tuple[str, int]]:
    while words and _is_loose(words, is_first=is_first, known=known):
        words = words[1:]
    while words and words[-1][0].casefold() in _PARTICLES:
        words = words[:-1]
    if len(words) > 1 and _NUMERAL_AND_STOP.fullmatch(words[-1][0]):
        words = [*words[:-1], (words[-1][0][:-1], words[-1][1])]
    return words


def _is_loose(words: list[tuple[str, int]], *, is_first: bool, known: frozenset[str]) -> bool:
    """Tell whether the first word is no part of the name."""
    first, rest = words[0][0], len(words) - 1
    small = first.casefold()
    if small in _PARTICLES or small in ("a", "an", "i"):
        return small not in ("la", "le", "las", "los", "da", "di", "de", "van", "von", "el") or (
            first[0].islower()
        )
    if small in MONTHS_AND_DAYS:
        return rest == 0 or words[1][0][0].isdigit()
    if first.isdigit() and (rest == 0 or words[1][0].isdigit()):
        return True
    if not is_first or first in known or rest == 0:
        return False
    if is_function_word(first):
        return True
    verb = tag(small)
    return verb in ("VB", "VBG", "VBP", "VBZ") or (verb in ("VBN", "VBD") and rest >= 2)


def _is_name(words: list[str], *, is_heading: bool, is_first: bool, known: frozenset[str]) -> bool:
    if len(words) > LONGEST_NAME or words[0].casefold().rstrip(".") in _PLACE_IN_TEXT:
        return False
    if not any(len(word.rstrip(".")) > 1 and _WORD.search(word) for word in words):
        return len(words) == 1 and words[0].count(".") > 1  # "U.S." but not "A" or "B 2"
    if is_heading and all(is_common(word) or word.isdigit() for word in words):
        return any(word in known and not is_common(word) for word in words)
    if len(words) > 1:
        return True
    word = words[0]
    if word.casefold() in DEMONYMS or word.casefold() in MONTHS_AND_DAYS:
        return False
    if word.isupper() and len(word) <= 5 and not is_heading:
        return not is_first or not is_function_word(word)
    if is_function_word(word) or (word.isupper() and is_common(word)):
        return False
    return not (is_first and is_common(word) and word not in known)
