"""The format in which Cohere and vLLM score passages."""

from __future__ import annotations

import re
from typing import Any

from holodeck.testing.replies import Scores, ServerRequest

__all__ = ["rerank_body", "shared_words"]

_WORD = re.compile(r"\w+")
_PASSAGES_OF_A_UNIT = 100


def shared_words(request: ServerRequest) -> list[float]:
    """Return for each passage the share of the question's words that it holds."""
    asked = set(_WORD.findall(str(request.body.get("query", "")).casefold()))
    return [
        len(asked & set(_WORD.findall(text.casefold()))) / max(len(asked), 1)
        for text in request.texts
    ]


def rerank_body(scores: Scores) -> dict[str, Any]:  # Any: JSON
    """Return the answer, best first, as the vendors write it."""
    order = sorted(range(len(scores)), key=lambda number: -scores[number])
    results = [{"index": number, "relevance_score": scores[number]} for number in order]
    units = -(-len(scores) // _PASSAGES_OF_A_UNIT)
    meta = {"billed_units": {"search_units": units}}  # Cohere's; vLLM's clients pass it over
    return {"id": "rerank-1", "results": results, "meta": meta}
