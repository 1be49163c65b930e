"""A model's report reply → a report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from holodeck.errors import ProviderError
from holodeck.lib.contracts import ChatReply, Finding, Report
from holodeck.lib.graphrag.accept import Complaint, about_text
from holodeck.lib.graphrag.json_reply import json_object, read_json
from holodeck.lib.graphrag.untrusted import restored

__all__ = ["about_report", "json_object", "parse_report"]

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_IN_WORDS: Mapping[str, float] = {
    "very low": 1.0,
    "low": 2.5,
    "medium": 5.0,
    "moderate": 5.0,
    "high": 7.5,
    "very high": 9.0,
    "severe": 9.0,
    "critical": 9.5,
}
_MIDDLE = 5.0
"""The rating where a model gives none: neither pushed to the front nor buried."""


def about_report(reply: ChatReply) -> Complaint | None:
    """Return what is wrong with a reply to a report prompt."""
    nothing = about_text(reply)
    if nothing is not None:
        return nothing
    found = read_json(reply.text)
    if found.content is None:
        return Complaint(
            cause="the model's report is not the JSON object that was asked for",
            told="it was not a JSON object",
        )
    lacking = [key for key in ("title", "summary") if not _text(found.content.get(key))]
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
    found = read_json(reply)
    content = found.content or {}
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


def _text(value: Any) -> str:  # Any: JSON
    """Return a value as text: a list as its parts, a number as it is written; null as nothing."""
    if isinstance(value, str):
        return restored(value).strip()
    if isinstance(value, list):
        return " ".join(part for part in map(_text, value) if part)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ""


def _findings(value: Any, repairs: Counter[str]) -> Iterator[Finding]:  # Any: JSON
    if value is None:
        return
    items = value
    if isinstance(value, Mapping):
        repairs["wrong type"] += 1
        is_one = {"summary", "explanation"} & value.keys()
        items = [value] if is_one else [{"summary": k, "explanation": v} for k, v in value.items()]
    elif not isinstance(value, list):
        repairs["wrong type"] += 1
        items = [value]
    for item in items:
        if isinstance(item, Mapping):
            finding = Finding(
                summary=_text(item.get("summary")), explanation=_text(item.get("explanation"))
            )
        else:
            repairs["wrong type"] += 1
            finding = Finding(summary=_text(item), explanation="")
        if finding.summary or finding.explanation:
            yield finding


def _rating(value: Any, repairs: Counter[str]) -> float:  # Any: JSON
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return min(max(float(value), 0.0), 10.0)
    repairs["wrong type"] += 1
    if isinstance(value, str):
        found = _NUMBER.search(value)
        if found is not None:
            return min(max(float(found.group().replace(",", ".")), 0.0), 10.0)
        return _IN_WORDS.get(value.strip(" .*").casefold(), _MIDDLE)
    return _MIDDLE
