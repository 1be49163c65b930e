"""A model's reply → the answer in it: without the thoughts before it and the fences around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from holodeck.lib.replies.marks import CONTROL, DELIMITER, NO_WIDTH

__all__ = ["AnswerText", "ReplyForm", "answer_of", "read_answer"]

_LINE_END = re.compile(r"\r\n?|[\u0085\u2028\u2029]")
_NAME = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_OPEN = (
    rf"(?:<{_NAME}(?:\s[^<>\n]{{0,80}})?>|◁{_NAME}▷|(?-i:\[THINK\])"
    r"|<\|START_THINKING\|>|<unused94>)"
)
_CLOSE = rf"(?:</{_NAME}>|◁/{_NAME}▷|(?-i:\[/THINK\])|<\|END_THINKING\|>|<unused95>)"
_FLAGS = re.DOTALL | re.IGNORECASE | re.MULTILINE
# A tag counts where models put it, at the start of a line; elsewhere it is what the text is about.
_THOUGHTS = re.compile(rf"^[ \t]*{_OPEN}.*?{_CLOSE}", _FLAGS)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)
_UNFINISHED = re.compile(rf"^[ \t]*{_OPEN}.*\Z", _FLAGS)
_LAST_CLOSING = re.compile(rf"{_CLOSE}(?=\s*(?:\n|[\"'(\[{{`#<]|\Z))", re.IGNORECASE)
_CLOSED_RECORD = re.compile(r"[)\]}）]\W*\Z")
_NEARBY = 500
_ASKED_DELIMITER = re.compile(DELIMITER)
# The channels of gpt-oss: what is thought stands in one, the answer in another.
_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b")
_FINAL = re.compile(r"\A.*<\|channel\|>\s*final\b[^<\n]{0,80}<\|message\|>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*|```[ \t]*$", re.MULTILINE)
_WRAPPER = r"(?:answer|output|response|results?|final(?:_answer)?)"
_WRAPPED = re.compile(rf"^[ \t]*</?{_WRAPPER}>|</?{_WRAPPER}>[ \t]*$", re.MULTILINE | re.IGNORECASE)


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


@dataclass(frozen=True, kw_only=True)
class ReplyForm:
    """What became of the records of one reply, and how it ends.

    Attributes:
        seen: Records that begin in it: those that were read and those that were dropped.
        dropped: Records that could not be used, by reason.
        is_ended: It holds the end marker.
        is_bare: It holds no word besides.
        is_cut: It breaks off in the middle of a record.
    """

    seen: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    is_ended: bool = False
    is_bare: bool = False
    is_cut: bool = False


def read_answer(reply: str) -> AnswerText:
    """Take thoughts, fences and the marks of a chat format off a reply."""
    repairs = []
    plain = _LINE_END.sub("\n", reply).translate(NO_WIDTH)
    text = _without_thoughts(plain)
    if text != plain:
        repairs.append("thoughts taken off")
    unfinished = _UNFINISHED.search(text) or _CHANNEL.search(text)
    if unfinished is not None:
        text = text[: unfinished.start()]
    for pattern, repair in (
        (_FENCE, "fence taken off"),
        (_WRAPPED, "tags taken off"),
        (CONTROL, "marks of the chat format taken off"),
    ):
        bare = pattern.sub("", text)
        if bare != text:
            repairs.append(repair)
        text = bare
    return AnswerText(
        text=text.strip(), repairs=tuple(repairs), is_unfinished=unfinished is not None
    )


def _without_thoughts(text: str) -> str:
    text = _FINAL.sub("", text)
    # Without a closing tag every opening one would be followed to the end of the reply.
    if _CLOSING.search(text) is None:
        return text
    text = _THOUGHTS.sub("", text)
    for end in reversed(list(_LAST_CLOSING.finditer(text))):
        if not _is_in_record(text, end):
            return text[end.end() :]
    return text


def _is_in_record(text: str, match: re.Match[str]) -> bool:
    """Tell whether a tag stands in a record that is about it."""
    nearby = text[max(0, match.start() - _NEARBY) : match.start()]
    line = nearby[nearby.rfind("\n") + 1 :]
    return _ASKED_DELIMITER.search(line) is not None and _CLOSED_RECORD.search(line) is None


def answer_of(reply: str) -> str:
    """Return a reply without the thoughts before it and the fences around it."""
    return read_answer(reply).text
