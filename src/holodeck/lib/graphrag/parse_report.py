"""A model's report reply → a report."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holodeck.errors import ProviderError
from holodeck.lib.contracts import ChatReply, Finding, Report
from holodeck.lib.graphrag.accept import Complaint, about_text
from holodeck.lib.replies.json_reply import json_object, plain_keys, read_json
from holodeck.lib.replies.untrusted import restored

__all__ = ["about_report", "json_object", "parse_report"]

_NUMBER = re.compile(r"-?(?:\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9})")
_SCALE = re.compile(r"\s*(?:/|out of|of)\s*(\d{1,4})")
_IN_WORDS: Mapping[str, float] = {
    "very low": 1.0,
    "very high": 9.0,
    "low": 2.5,
    "medium": 5.0,
    "moderate": 5.0,
    "severe": 9.0,
    "critical": 9.5,
    "high": 7.5,
}
"""Words of a rating; of several, the first one here that is in it."""
_MIDDLE = 5.0
"""The rating where a model gives none: neither pushed to the front nor buried."""
_GREATEST = 10.0
_KEYS = ("title", "summary")
_OTHER_NAMES = {
    "executive_summary": "summary",
    "impact_severity_rating": "rating",
    "detailed_findings": "findings",
    "key_findings": "findings",
}
_FINDING_KEYS = (
    ("summary", "title", "name", "heading", "finding", "insight"),
    ("explanation", "description", "details", "text", "content"),
)
_PATTERN = re.compile(r"<\w+>")


def about_report(reply: ChatReply) -> Complaint | None:
    """Return what is wrong with a reply to a report prompt."""
    nothing = about_text(reply)
    if nothing is not None:
        return nothing
    found = read_json(reply.text, _is_report)
    if found.content is None:
        return Complaint(
            cause="the model's report is not the JSON object that was asked for",
            told="it was not a JSON object",
        )
    content = _named(found.content)
    lacking = [key for key in _KEYS if not _text(content.get(key))]
    if lacking:
        return Complaint(
            cause=f"the model's report has no {' and no '.join(lacking)}",
            told=f"{' and '.join(lacking)} must be text that is not empty",
        )
    if found.is_cut:
        limit = "token limit" if reply.finish_reason == "length" else "in the middle of the JSON"
        return Complaint(
            cause=f"the model's report was cut off ({limit})",
            told="it was cut off in the middle. Be briefer, so that the answer is complete",
            is_usable=True,
        )
    return None


def parse_report(reply: str) -> Report:
    """Return the report that a reply holds.

    Raises:
        ProviderError: There is no usable JSON in it; asking again may help.
    """
    found = read_json(reply, _is_report)
    content = _named(found.content or {})
    title, summary = _text(content.get("title")), _text(content.get("summary"))
    if not title or not summary:
        raise ProviderError(
            "the model's report is not the JSON object that was asked for (it needs a title and a "
            "summary); try another indexing_model",
            retryable=True,
        )
    repairs = Counter(found.repairs)
    rating = _rating(content.get("rating"), repairs)
    findings = tuple(_findings(content.get("findings"), repairs))
    return Report(
        title=title,
        summary=summary,
        findings=findings,
        rating=rating,
        rating_explanation=_text(content.get("rating_explanation")),
        repairs=tuple(repairs.elements()),
    )


def _named(content: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return a report with its keys as they were asked for."""
    plain = plain_keys(content)
    return {**{_OTHER_NAMES.get(key, key): value for key, value in plain.items()}, **plain}


def _is_report(content: Mapping[str, Any]) -> bool:  # Any: JSON
    return _named(content).keys() >= set(_KEYS)


def _text(value: Any) -> str:  # Any: JSON
    """Return a value as text: a list as its parts, a number as it is written; null as nothing."""
    if isinstance(value, str):
        plain = restored(value).strip()
        return "" if _PATTERN.fullmatch(plain) else plain
    if isinstance(value, list):
        return " ".join(part for part in map(_text, value) if part)
    if isinstance(value, Mapping):
        return _text(list(value.values()))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ""


def _findings(value: Any, repairs: Counter[str]) -> Iterator[Finding]:  # Any: JSON
    for item in _items(value, repairs):
        if isinstance(item, Mapping):
            plain = plain_keys(item)
            first, second = (_first(plain, keys) for keys in _FINDING_KEYS)
            finding = Finding(summary=first, explanation=second)
            if not first and not second:
                finding = Finding(summary=_text(item), explanation="")
        else:
            repairs["wrong type"] += 1
            finding = Finding(summary=_text(item), explanation="")
        if finding.summary or finding.explanation:
            yield finding
        else:
            repairs["empty finding left out"] += 1


def _items(value: Any, repairs: Counter[str]) -> list[Any]:  # Any: JSON
    """Return findings as a flat list, whatever they came as."""
    if value is None or isinstance(value, list):
        return [
            item for each in value or () for item in (each if isinstance(each, list) else [each])
        ]
    repairs["wrong type"] += 1
    if isinstance(value, Mapping):
        keys = {key for names in _FINDING_KEYS for key in names[:1]} | {"explanation"}
        is_one = bool(keys & plain_keys(value).keys())
        return [value] if is_one else [{"summary": k, "explanation": v} for k, v in value.items()]
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        inner = read_json(f'{{"findings": {value}}}').content or {}
        if isinstance(inner.get("findings"), list | Mapping):
            return _items(inner["findings"], repairs)
    return [value]


def _first(content: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first of these that has text."""
    return next((text for key in keys if (text := _text(content.get(key)))), "")


def _rating(value: Any, repairs: Counter[str]) -> float:  # Any: JSON
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return _in_bounds(float(value), repairs)
    repairs["wrong type"] += 1
    if isinstance(value, list | Mapping):
        every = list(value.values()) if isinstance(value, Mapping) else value
        return _rating(every[0], repairs) if every else _MIDDLE
    if not isinstance(value, str):
        return _MIDDLE
    found = _NUMBER.search(value)
    if found is not None:
        number = float(found.group().replace(",", "."))
        scale = _SCALE.match(value, found.end())
        most = float(scale[1]) if scale is not None else 0.0
        return _in_bounds(number * _GREATEST / most if most > _GREATEST else number, repairs)
    words = value.casefold()
    return next((rating for word, rating in _IN_WORDS.items() if word in words), _MIDDLE)


def _in_bounds(rating: float, repairs: Counter[str]) -> float:
    """Return a rating of 0 to 10; more is meant as a share of a hundred."""
    if 0 <= rating <= _GREATEST:
        return rating
    repairs["rating out of range"] += 1
    return 0.0 if rating < 0 else min(rating / 10, _GREATEST)
