"""A model's report reply → a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holodeck.errors import ProviderError
from holodeck.lib.contracts import Finding, Report
from holodeck.lib.graphrag.parse import answer_of

__all__ = ["json_object", "parse_report"]


def json_object(reply: str) -> dict[str, Any] | None:
    """Return the JSON object in a reply, prose around it left aside; ``None`` if there is none."""
    text = answer_of(reply)
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        content = json.loads(text[start : end + 1], strict=False)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def parse_report(reply: str) -> Report:
    """Return the report that a reply holds.

    Raises:
        ProviderError: There is no usable JSON in it; asking again may help.
    """
    content = json_object(reply)
    title = _text(content, "title") if content is not None else ""
    summary = _text(content, "summary") if content is not None else ""
    if content is None or not title or not summary:
        raise ProviderError(
            "the model's report is not the JSON object that was asked for (it needs a title and a "
            "summary); try another indexing_model",
            retryable=True,
        )
    return Report(
        title=title,
        summary=summary,
        findings=_findings(content.get("findings")),
        rating=_rating(content.get("rating")),
        rating_explanation=_text(content, "rating_explanation"),
    )


def _text(content: Mapping[str, Any], key: str) -> str:
    value = content.get(key)
    return value.strip() if isinstance(value, str) else ""


def _findings(value: Any) -> tuple[Finding, ...]:
    items = value if isinstance(value, list) else [value]
    found = []
    for item in items:
        if isinstance(item, Mapping):
            finding = Finding(
                summary=_text(item, "summary"), explanation=_text(item, "explanation")
            )
        else:
            finding = Finding(summary=item.strip() if isinstance(item, str) else "", explanation="")
        if finding.summary or finding.explanation:
            found.append(finding)
    return tuple(found)


def _rating(value: Any) -> float:
    try:
        return min(max(float(value), 0.0), 10.0)
    except (TypeError, ValueError):
        return 0.0
