"""What models usually say of a text, before they were asked: wide, and only until they are.

The numbers hold what was seen of real models (gpt-3.5-turbo's facts of encyclopedia passages,
gpt-4o and gpt-4o-mini over a novella, a graph that OpenAI's models made of a story) and of the
loopback server's rules on the example documents and on the passages. What is counted from a text is
its names: runs of capitalised words, or a share of its tokens where a script has no capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from holodeck.lib.contracts import Span
from holodeck.lib.tokens import count_tokens

__all__ = [
    "COMMUNITIES",
    "ENTITIES",
    "ENTITY_TOKENS",
    "RECORD_TOKENS",
    "REPORT_CONTEXT",
    "REPORT_REPLY",
    "SUMMARY_INPUT",
    "SUMMARY_REPLY",
    "Names",
    "extraction_reply",
    "names_in",
]

_NAME = re.compile(r"\b[^\W\d_a-z][\w'’&-]*(?:[ \t]+[^\W\d_a-z][\w'’&-]*)*")
_FIRST_WORDS = frozenset(
    """
    A An And As At But By For From He Her His How I If In It Its No Not Of On Or She So That The
    Their There These They This To Was We What When Where Which Who Why With You
    """.split()  # noqa: SIM905  # a list of words reads better as words
)

_SHARE_OF_NAMES = Span(low=0.01, high=0.05)
"""Names in a text by its tokens, at least and where capitals tell nothing."""
_REPLY_TO_NAME = Span(low=12, high=115)
"""Tokens of an extraction's reply for each name of its text."""
_REPLY_TO_CHUNK = Span(low=4, high=80)
"""Tokens of the reply to a text in which there is nothing, and of the way round the records."""

RECORD_TOKENS = 25
"""Fewest tokens of a record, on the average of a reply."""
ENTITIES = Span(low=0.15, high=1.2)
"""Entities for each distinct name."""
COMMUNITIES = Span(low=0.1, high=0.45)
"""Communities for each entity."""
ENTITY_TOKENS = Span(low=10, high=200)
"""Tokens of an entity's name and description."""
REPORT_CONTEXT = Span(low=60, high=2500)
"""Tokens that a report is written from, on the average."""
REPORT_REPLY = Span(low=80, high=1800)
SUMMARY_INPUT = Span(low=100, high=2000)
"""Tokens of the descriptions that are summarised at once, on the average."""
SUMMARY_REPLY = Span(low=10, high=700)


@dataclass(frozen=True, kw_only=True)
class Names:
    """How many names stand in some texts.

    Attributes:
        mentions: A name counts once for each text.
        distinct: A name counts once.
    """

    mentions: Span
    distinct: Span


def names_in(texts: Iterable[str]) -> Names:
    """Return how many names stand in the texts."""
    mentions, tokens = 0, 0
    distinct: set[str] = set()
    for text in texts:
        found = {name for name in map(_bare, _NAME.findall(text)) if name}
        mentions += len(found)
        distinct |= found
        tokens += count_tokens(text)
    least, most = tokens * _SHARE_OF_NAMES.low, tokens * _SHARE_OF_NAMES.high
    return Names(
        mentions=Span(low=max(mentions, least), high=max(mentions, most)),
        distinct=Span(low=max(len(distinct), least / 4), high=max(len(distinct), most)),
    )


def _bare(name: str) -> str:
    words = name.split()
    while words and words[0] in _FIRST_WORDS:
        words = words[1:]
    return " ".join(words).casefold()


def extraction_reply(names: Names, chunks: int) -> Span:
    """Return the tokens of the replies to extraction prompts."""
    return Span(
        low=names.mentions.low * _REPLY_TO_NAME.low + chunks * _REPLY_TO_CHUNK.low,
        high=names.mentions.high * _REPLY_TO_NAME.high + chunks * _REPLY_TO_CHUNK.high,
    )
