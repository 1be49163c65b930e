"""A model's reply → the answer in it: without the thoughts before it and the fences around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["AnswerText", "answer_of", "read_answer"]

_TAG = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
# A tag counts where models put it, at the start of a line; elsewhere it is what the text is about.
_THOUGHTS = re.compile(rf"^[ \t]*<{_TAG}>.*?</{_TAG}>", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(rf"</{_TAG}>", re.IGNORECASE)
_UNFINISHED = re.compile(rf"^[ \t]*<{_TAG}>.*\Z", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_ONLY_END = re.compile(rf"\A.*</{_TAG}>(?=\s*(?:\n|[\"'(\[{{`#<]|\Z))", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*|```[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class AnswerText:
    """The answer in a reply.

    Attributes:
        repairs: What was taken off.
        is_unfinished: The reply ends among thoughts that were never closed.
    """

    text: str
    repairs: tuple[str, ...] = ()
    is_unfinished: bool = False


def read_answer(reply: str) -> AnswerText:
    """Take thoughts and fences off a reply."""
    repairs = []
    # Without a closing tag every opening one would be followed to the end of the reply.
    is_closed = _CLOSING.search(reply) is not None
    text = _ONLY_END.sub("", _THOUGHTS.sub("", reply)) if is_closed else reply
    if text != reply:
        repairs.append("thoughts taken off")
    unfinished = _UNFINISHED.search(text)
    if unfinished is not None:
        text = text[: unfinished.start()]
    plain = _FENCE.sub("", text)
    if plain != text:
        repairs.append("fence taken off")
    return AnswerText(
        text=plain.strip(), repairs=tuple(repairs), is_unfinished=unfinished is not None
    )


def answer_of(reply: str) -> str:
    """Return a reply without the thoughts before it and the fences around it."""
    return read_answer(reply).text
