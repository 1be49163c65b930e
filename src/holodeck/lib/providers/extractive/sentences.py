"""Text → sentences, in any script: nothing is lost but blanks and Markdown's line marks."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from holodeck.lib.providers.extractive.words import word_set

__all__ = ["LONGEST_SENTENCE", "collapse", "ends_a_sentence", "prose_share", "split_sentences"]

LONGEST_SENTENCE = 600
"""Characters after which a text without full stops (a table, a log) is cut all the same."""

_CLOSERS = "\"'”’»)\\]」』》】"
_OPENERS = "\"'“‘«(["
_BOUNDARY = regex.compile(rf"(?:[。！？｡]+|[.!?…؟۔।]+(?=[{_CLOSERS}]*(?:\s|$)))[{_CLOSERS}]*\s*")
_LAST_WORD = regex.compile(r"[\p{L}\p{N}.]+$")
_NEXT_WORD = regex.compile(r"[\p{L}\p{N}]+")
_DOTTED = regex.compile(r"\p{L}(?:\.\p{L})+")
_LINE_MARK = regex.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|>\s?)+")
_OWN_LINE = regex.compile(r"^\s*(?:#{1,6}\s|[-*+•]\s|>|\||\d{1,3}[.)]\s|```|={3,}|-{3,})")
_SENTENCE_END = regex.compile(rf"[.!?…:;,。！？｡؟۔।][{_CLOSERS}]*\s*$")

_FIELD = regex.compile(r"^[^\s:;.][^:;.]{0,40}:\s+\S")
_RECORD = regex.compile(r"^[^\s:;.][^:;.]{0,40}: .*; [^\s:;.][^:;.]{0,40}: ")

_ALWAYS_SHORT = word_set(
    "mr mrs ms messrs mme dr prof st mt ft capt cpt cmdr col gen maj lt sgt cpl adm rev hon fr sen "
    "rep gov pres supt vs cf viz approx eg ie e.g i.e"
)
_SHORT_BEFORE_NUMBER = word_set("no nos vol fig figs p pp ch sec eq art c ca b d r")
_SHORT_WITHIN = word_set(
    "inc ltd co corp jr sr etc al bros est dept univ assn ave blvd jan feb mar apr jun jul aug "
    "sep sept oct nov dec ph.d"
)
_STARTERS = word_set(
    "The A An It He She They We I You This That These Those In On At His Her Its Their There But "
    "And However When After As By For From If Since While With Then Its Our My What Who"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of ``text`` in order, each on one line.

    Headings, list items and table rows are sentences of their own; a hard-wrapped paragraph is
    joined first. The fields of a record ("name: Fram", "built: 1892") are one sentence.
    """
    return [
        piece
        for block in _blocks(text)
        for sentence in _split_block(block)
        for piece in _shorten(sentence)
    ]


def collapse(text: str) -> str:
    """Return ``text`` on one line with single blanks."""
    return " ".join(text.split())


def ends_a_sentence(text: str) -> bool:
    """Tell whether ``text`` ends as a sentence does."""
    return _SENTENCE_END.search(text) is not None


def prose_share(sentence: str) -> float:
    """Return how well ``sentence`` reads as prose: 1 for a whole one, least for a record.

    A heading has no end, and what a chunk begins in the middle of has no beginning.
    """
    if _RECORD.match(sentence):
        return 0.2
    is_whole = ends_a_sentence(sentence) and not sentence[:1].islower()
    return 1.0 if is_whole else 0.6


def _blocks(text: str) -> list[str]:
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        if not line.strip():
            blocks.append([])
            continue
        previous = blocks[-1][-1] if blocks[-1] else ""
        if _OWN_LINE.match(line) or (previous and _is_own_line(previous, line)):
            blocks.append([])
        blocks[-1].append(line)
    joined = (_join([_LINE_MARK.sub("", line) for line in lines]) for lines in blocks)
    return [block for block in joined if block]


def _join(lines: Sequence[str]) -> str:
    """Join the lines of a block: wrapped prose by blanks, the fields of a record by ``;``."""
    if len(lines) > 1 and all(_FIELD.match(line) for line in lines):
        return "; ".join(collapse(line) for line in lines) + "."
    return collapse(" ".join(lines))


def _is_own_line(line: str, following: str) -> bool:
    """Tell whether ``line`` ends a block: a heading, or a short line that nothing continues."""
    if line.lstrip().startswith(("#", "|")):
        return True
    if _FIELD.match(following):
        return _FIELD.match(line) is None
    is_short = len(line.strip()) <= 50 and not _SENTENCE_END.search(line)
    return is_short and not following.lstrip()[:1].islower()


def _split_block(block: str) -> list[str]:
    sentences, start = [], 0
    for match in _BOUNDARY.finditer(block):
        if _is_inside(block, match):
            continue
        sentences.append(block[start : match.end()].strip())
        start = match.end()
    sentences.append(block[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _is_inside(block: str, match: regex.Match[str]) -> bool:
    """Tell whether a full stop or the like stands inside a sentence."""
    if match.group()[0] in "。！？｡؟۔।":
        return False
    rest = block[match.end() : match.end() + 50].lstrip(_OPENERS)
    if rest[:1].islower():
        return _FIELD.match(rest) is None
    if match.group()[:2].rstrip() != ".":
        return False
    found = _LAST_WORD.search(block[max(0, match.start() - 20) : match.start()])
    return found is not None and _is_abbreviation(found.group(), rest)


def _is_abbreviation(word: str, rest: str) -> bool:
    following = _NEXT_WORD.match(rest)
    if following is None:
        return False
    folded = word.casefold()
    if folded in _ALWAYS_SHORT:
        return True
    if folded in _SHORT_BEFORE_NUMBER and rest[0].isdigit():
        return True
    if len(word) == 1 and word.isupper() and word != "I":
        return True
    is_short = folded in _SHORT_WITHIN or _DOTTED.fullmatch(word) is not None
    return is_short and following.group() not in _STARTERS


def _shorten(sentence: str) -> list[str]:
    pieces = []
    while len(sentence) > LONGEST_SENTENCE:
        head = sentence[:LONGEST_SENTENCE]
        cut = max(head.rfind(mark) + len(mark) for mark in ("; ", ", ", "；", "，", "、"))
        if cut < LONGEST_SENTENCE // 2:
            cut = head.rfind(" ") + 1
        if cut < LONGEST_SENTENCE // 2:
            cut = LONGEST_SENTENCE
        pieces.append(sentence[:cut].strip())
        sentence = sentence[cut:]
    pieces.append(sentence.strip())
    return [piece for piece in pieces if piece]
