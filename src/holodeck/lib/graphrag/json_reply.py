"""The JSON object in a model's reply, mended where it can be."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from holodeck.lib.graphrag.reply_text import read_answer

__all__ = ["JsonReply", "json_object", "read_json"]

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


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


def read_json(reply: str) -> JsonReply:
    """Find the JSON object in a reply and read it, mended where needed."""
    answer = read_answer(reply)
    repairs = list(answer.repairs)
    start = answer.text.find("{")
    if start < 0:
        return JsonReply(content=None, repairs=tuple(repairs), is_cut=answer.is_unfinished)
    end = answer.text.rfind("}") + 1
    if start or (end and answer.text[end:].strip()):
        repairs.append("prose taken off")
    body = answer.text[start : end or None]
    content = _plain(body)
    if content is not None:
        return JsonReply(content=content, repairs=tuple(repairs))
    whole = answer.text[start:]
    is_cut = whole.count("{") > whole.count("}")
    content = _mended(whole if is_cut else body)
    return JsonReply(content=content, repairs=(*repairs, "JSON mended"), is_cut=is_cut)


def _plain(body: str) -> dict[str, Any] | None:
    try:
        content = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _mended(body: str) -> dict[str, Any] | None:
    """Mend a comma too many and doubled braces; what is worse needs the package json_repair.

    That package comes with the extra ``graphrag``, so it is there wherever an index is built.
    """
    for text in (body, body.replace("{{", "{").replace("}}", "}")):
        content = _plain(_TRAILING_COMMA.sub(r"\1", text))
        if content is not None:
            return content
    if find_spec("json_repair") is None:
        return None
    import json_repair

    try:
        found = json_repair.loads(body)
    except (ValueError, RecursionError):
        return None
    return _object_in(found)


def _object_in(found: Any) -> dict[str, Any] | None:  # Any: JSON
    if isinstance(found, dict) and found:
        return found
    if isinstance(found, list):
        return next((item for item in found if isinstance(item, dict) and item), None)
    return None
