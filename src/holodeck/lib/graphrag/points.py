"""The points of global search: what reports say to a question, and how much it counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holodeck.lib.replies.json_reply import plain_keys, read_json
from holodeck.lib.replies.reply_text import read_answer
from holodeck.lib.tokens import count_tokens, cut_to_tokens

__all__ = [
    "GREATEST_SCORE",
    "Chosen",
    "Point",
    "ReadPoints",
    "choose_points",
    "number_in",
    "points_in",
]

GREATEST_SCORE = 100


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point and its score, 0 to ``GREATEST_SCORE``; 0: it has nothing to say."""

    text: str
    score: int


@dataclass(frozen=True, kw_only=True)
class ReadPoints:
    """The points of a reply.

    Attributes:
        points: Those that can be used.
        unusable: How many more it holds.
        is_cut: It breaks off before the list ends.
    """

    points: tuple[Point, ...]
    unusable: int = 0
    is_cut: bool = False


def points_in(reply: str) -> ReadPoints | None:
    """Return the points of a reply; ``None`` where it is not what was asked for.

    They may stand in another object, behind one that a model thinks aloud with, or by themselves.
    """
    found = read_json(reply, _has_points)
    content = plain_keys(found.content or {})
    if not _has_points(content):
        answer = read_answer(reply).text.strip()
        if answer.startswith("["):
            found = read_json(f'{{"points": {answer}}}', _has_points)
            content = plain_keys(found.content or {})
    if not _has_points(content):
        return None
    listed = content["points"]
    points = tuple(point for item in listed if (point := _point(item)) is not None)
    # A list of which nothing can be read is no answer; an empty list is one.
    if listed and not points:
        return None
    return ReadPoints(points=points, unusable=len(listed) - len(points), is_cut=found.is_cut)


def _has_points(content: Mapping[str, Any]) -> bool:  # Any: JSON
    return isinstance(content.get("points"), list)


def _point(item: object) -> Point | None:
    """Return a point of the list; ``None``: it has no text, or no score on the scale."""
    if not isinstance(item, dict):
        return None
    score = number_in(item.get("score"), GREATEST_SCORE)
    text = item.get("description")
    if score is None or not isinstance(text, str) or (score > 0 and not text.strip()):
        return None
    return Point(text=text, score=math.ceil(score))


def number_in(value: object, greatest: float) -> float | None:
    """Return a number from 0 to ``greatest``, however a model writes it."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip().removesuffix(f"/{greatest:g}")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= greatest else None


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Points as the last prompt shows them.

    Attributes:
        text: The data of the prompt.
        shown: Points in it.
        left_out: Points for which there was no room.
        cut: Of those shown: points of which only the beginning is.
    """

    text: str
    shown: int
    left_out: int
    cut: int


def choose_points(points: Sequence[Point], budget: int) -> Chosen:
    """Choose what fits into so many tokens, the highest scores first.

    Of a point that would take more than half of them, the beginning is shown; what does not fit is
    passed over for what does.
    """
    ranked = sorted(points, key=lambda point: -point.score)
    sections: list[str] = []
    left, cut = budget, 0
    for number, point in enumerate(ranked, start=1):
        whole = _section(number, point)
        section = cut_to_tokens(whole, budget // 2)
        size = count_tokens(section)
        if size <= left:
            sections.append(section)
            left -= size
            cut += section != whole
    shown = len(sections)
    text = "\n\n".join(sections)
    return Chosen(text=text, shown=shown, left_out=len(ranked) - shown, cut=cut)


def _section(number: int, point: Point) -> str:
    return f"----Analyst {number}----\nImportance Score: {point.score}\n{point.text}"
