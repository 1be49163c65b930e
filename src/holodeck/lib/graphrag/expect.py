"""What models usually say of a text, before they were asked: wide, and only until they are.

The numbers hold what was seen of real models (gpt-3.5-turbo's facts of encyclopedia passages,
gpt-4o and gpt-4o-mini over a novella, a graph that OpenAI's models made of a story) and of the
loopback server's rules on the example documents and on the passages. What is counted from a text is
its names: runs of capitalised words, or a share of its tokens where a script has no capitals.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holodeck.lib.contracts import Span
from holodeck.lib.tokens import count_tokens

__all__ = [
    "COMMUNITIES",
    "DESCRIPTION_TOKENS",
    "ENTITIES",
    "ENTITY_TOKENS",
    "REPORT_CONTEXT",
    "REPORT_REPLY",
    "SUMMARY_INPUT",
    "SUMMARY_REPLY",
    "Names",
    "extraction_reply",
    "linked",
    "names_in",
]

_NAME = re.compile(r"\b[^\W\d_a-z][\w'’&-]*(?:[ \t]+[^\W\d_a-z][\w'’&-]*)*")
_FIRST_WORDS = frozenset(
    """
    A An And As At But By For From He Her His How I If In It Its No Not Of On Or She So That The
    Their There These They This To Was We What When Where Which Who Why With You
    """.split()  # noqa: SIM905  # a list of words reads better as words
)

_SHARE_OF_NAMES = 0.05
"""Names in a text by its tokens, at most, where capitals tell nothing."""
_REPLY_TO_NAME = 115
"""Tokens of an extraction's reply for each name of its text, at most: a model may find none."""
_REPLY_TO_CHUNK = Span(low=4, high=80)
"""Tokens of the reply to a text in which there is nothing, and of the way round the records."""

DESCRIPTION_TOKENS = 80
"""Tokens of one description of a thing, rather more than fewer."""
ENTITIES = 1.6
"""Entities for each distinct name, at most: a model may find none."""
COMMUNITIES = 0.45
"""Communities for each entity, at most."""
ENTITY_TOKENS = Span(low=3, high=200)
"""Tokens of an entity's name and description."""
REPORT_CONTEXT = 2500
"""Tokens that a report is written from, at most, on the average."""
REPORT_REPLY = Span(low=80, high=1800)
SUMMARY_INPUT = 2000
"""Tokens of the descriptions that are summarised at once, at most, on the average."""
SUMMARY_REPLY = Span(low=10, high=700)


@dataclass(frozen=True, kw_only=True)
class Names:
    """How many names stand in some texts, at most.

    Attributes:
        mentions: A name counts once for each text.
        distinct: A name counts once.
        texts_of: Name → in how many texts it stands.
    """

    mentions: float
    distinct: float
    texts_of: Mapping[str, int]

    def repeated(self, times: int) -> int:
        """Return how many names stand in so many texts."""
        return sum(count >= times for count in self.texts_of.values())


def names_in(texts: Iterable[str]) -> Names:
    """Return how many names stand in the texts."""
    texts_of: Counter[str] = Counter()
    uncased = 0
    for text in texts:
        texts_of.update({name for name in map(_bare, _NAME.findall(text)) if name})
        if not _has_capitals(text):
            uncased += count_tokens(text)
    more = _SHARE_OF_NAMES * uncased
    return Names(mentions=texts_of.total() + more, distinct=len(texts_of) + more, texts_of=texts_of)


def _has_capitals(text: str) -> bool:
    """Tell whether names would be capitalised: most letters have a case, and some are capitals."""
    letters = [character for character in text if character.isalpha()]
    cased = sum(character.lower() != character.upper() for character in letters)
    return 2 * cased > len(letters) and not text.islower()


def _bare(name: str) -> str:
    words = name.split()
    while words and words[0] in _FIRST_WORDS:
        words = words[1:]
    return " ".join(words).casefold()


def linked(names: int) -> int:
    """Return how many pairs of names may be met with twice: two a name, and of few names all."""
    return min(math.comb(names, 2), 2 * names + 50)


def extraction_reply(names: Names, chunks: int) -> Span:
    """Return the tokens of the replies to extraction prompts."""
    return Span(
        low=chunks * _REPLY_TO_CHUNK.low,
        high=names.mentions * _REPLY_TO_NAME + chunks * _REPLY_TO_CHUNK.high,
    )
