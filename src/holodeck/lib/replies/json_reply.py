"""The JSON object in a model's reply, mended where it can be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from holodeck.lib.replies.reply_text import read_answer
from holodeck.lib.whole_text import well_formed

__all__ = ["JsonReply", "json_object", "plain_keys", "read_json"]

Wanted = Callable[[Mapping[str, Any]], bool]  # Any: JSON

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_CURLY_QUOTES = str.maketrans("“”„‟＂", '"""""')
_DECODER = json.JSONDecoder(strict=False)
_MOST_STARTS = 100
"""Braces from which an object is looked for, so that a reply of braces takes no time."""
_MOST_BRACKETS = 2000
"""Brackets of a text that is mended; what has more is no report."""


@dataclass(frozen=True, kw_only=True)
class JsonReply:
    """What a reply holds.

    Attributes:
        content: ``None``: no object.
        repairs: What was mended.
        is_cut: It breaks off before the object ends.
    """

    content: dict[str, Any] | None  # Any: JSON
    repairs: tuple[str, ...] = ()
    is_cut: bool = False


def json_object(reply: str) -> dict[str, Any] | None:
    """Return the JSON object in a reply, prose around it left aside; ``None`` if there is none."""
    return read_json(reply).content


def read_json(reply: str, is_wanted: Wanted = lambda content: True) -> JsonReply:
    """Find the JSON object in a reply and read it, mended where needed.

    Args:
        reply: What the model wrote.
        is_wanted: Whether an object, its keys made plain, is the one that was asked for: prose may
            hold braces too, and a model may put the object into another.
    """
    answer = read_answer(reply)
    text = _unescaped(answer.text)
    repairs = [*answer.repairs, *(["escapes resolved"] if text != answer.text else [])]
    start = text.find("{")
    if start < 0:
        return JsonReply(content=None, repairs=tuple(repairs), is_cut=answer.is_unfinished)
    for at, end, content in _objects(text):
        inner = _wanted(content, is_wanted)
        if inner is not None:
            if text[:at].strip() or text[end:].strip():
                repairs.append("prose taken off")
            if inner is not content:
                repairs.append("taken out of another object")
            return JsonReply(content=_well_formed(inner), repairs=tuple(repairs))
    end = text.rfind("}") + 1
    if start or (end and text[end:].strip()):
        repairs.append("prose taken off")
    whole = text[start:]
    is_cut = whole.count("{") > whole.count("}")
    mended = _mended(whole if is_cut else text[start : end or None], is_wanted)
    return JsonReply(content=_well_formed(mended), repairs=(*repairs, "JSON mended"), is_cut=is_cut)


def _well_formed(content: Any) -> Any:  # Any: JSON
    """Return the content with whole characters: an escape may stand for half of one."""
    if isinstance(content, str):
        return well_formed(content)
    if isinstance(content, list):
        return [_well_formed(each) for each in content]
    if isinstance(content, dict):
        return {well_formed(key): _well_formed(value) for key, value in content.items()}
    return content


def plain_keys(content: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return an object with its keys as they were asked for: in small letters, in one word."""
    return {re.sub(r"[\s-]+", "_", str(key).strip().casefold()): v for key, v in content.items()}


def _unescaped(text: str) -> str:
    """Return a text that is itself written as a JSON string as what it says."""
    if not text.startswith('"'):
        return text
    try:
        content = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text
    return content if isinstance(content, str) else text


def _objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the objects that can be read as they are, and where they begin and end."""
    at = -1
    for _ in range(_MOST_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            content, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        yield at, end, content
        at = end - 1


def _wanted(
    content: Any,  # Any: JSON
    is_wanted: Wanted,
    depth: int = 3,
) -> dict[str, Any] | None:
    """Return the wanted object: this one or one in it."""
    if isinstance(content, dict) and is_wanted(plain_keys(content)):
        return content
    values = content.values() if isinstance(content, dict) else content
    if not isinstance(content, dict | list) or not depth:
        return None
    found = (_wanted(value, is_wanted, depth - 1) for value in values)
    return next((each for each in found if each is not None), None)


def _mended(body: str, is_wanted: Wanted) -> dict[str, Any] | None:
    """Mend a comma too many, doubled braces and curly quotes; what is worse needs json_repair.

    That package comes with the extra ``graphrag``, so it is there wherever an index is built.
    """
    single = body.replace("{{", "{").replace("}}", "}")
    for text in (body, single, body.translate(_CURLY_QUOTES)):
        for _, _, content in _objects(_TRAILING_COMMA.sub(r"\1", text)):
            found = _wanted(content, is_wanted)
            if found is not None:
                return found
    if body.count("{") + body.count("[") > _MOST_BRACKETS or find_spec("json_repair") is None:
        return None
    import json_repair

    try:
        repaired = json_repair.loads(body)
    except (ValueError, RecursionError):
        return None
    return _wanted(repaired, is_wanted) or _any_object(repaired)


def _any_object(found: Any) -> dict[str, Any] | None:  # Any: JSON
    """Return an object all the same, so that the model is told what it lacks."""
    if isinstance(found, list):
        return next((item for item in found if isinstance(item, dict) and item), None)
    return found if isinstance(found, dict) else None
