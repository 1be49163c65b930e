"""What an extraction prompt asks its reply to be divided by, and every disguise it is met in.

Replies are read by these patterns, and text that is put into a prompt is kept free of them: what
the one takes for a delimiter, the other must not let through.
"""

from __future__ import annotations

import re

__all__ = [
    "BAR",
    "CONTROL",
    "DELIMITER",
    "END",
    "GREATER",
    "LESS",
    "NO_WIDTH",
    "UNSEEN",
    "end_marker",
    "without_end_marker",
]

UNSEEN = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0f\ufeff]"
"""A character that takes no room, or only room."""

# Joiners (U+200C, U+200D) stay: some scripts and emoji spell with them.
NO_WIDTH = dict.fromkeys(
    map(
        ord,
        "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
        "\u2066\u2067\u2068\u2069\ufeff",
    )
)
"""Marks without width that copying leaves behind, for ``str.translate``."""

LESS = r"(?:[<＜﹤]|&lt;)"
GREATER = r"(?:[>＞﹥]|&gt;)"
BAR = r"[|｜￨∣ǀ│❘]"
DELIMITER = (
    rf"(?:{LESS}{UNSEEN}{{0,9}}\\?{BAR}{{1,3}}{UNSEEN}{{0,9}}{GREATER}"
    rf"|{LESS}{BAR}(?:#|tuple_delimiter){BAR}{GREATER})"
)
"""``<|>`` and what models make of it; ``<¦>`` is none, that is a document's."""

_WORD = rf"{UNSEEN}{{0,9}}COMPLETED?{UNSEEN}{{0,9}}"
# Without its marks the word counts where it ends the reply, in capitals.
END = re.compile(
    rf"(?:{LESS}{UNSEEN}{{0,9}}{BAR}{{0,2}}|{BAR}){_WORD}(?:{BAR}{{0,2}}{UNSEEN}{{0,9}}{GREATER}|{BAR})"
    rf"|^[*_`\s]{{0,9}}(?-i:COMPLETED?)[.*_`\s]{{0,9}}\Z",
    re.IGNORECASE | re.MULTILINE,
)
CONTROL = re.compile(
    rf"{LESS}{BAR}(?!{_WORD}{BAR}|tuple_delimiter)[a-z_][\w▁ -]{{0,40}}{BAR}{GREATER}",
    re.IGNORECASE,
)
"""A token of the model's chat format, as servers let them slip into a reply."""


def end_marker(text: str) -> re.Match[str] | None:
    """Return where the model first says that it is done."""
    return END.search(text) if "complete" in text.casefold() else None


def without_end_marker(text: str) -> str:
    """Return an answer without its end markers."""
    return END.sub("", text)
