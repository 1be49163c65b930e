"""How much each report helps to answer a question, asked of a language model."""

from __future__ import annotations

from collections.abc import Sequence

from holodeck.errors import ProviderError, SearchError
from holodeck.lib.contracts import ContextReport, Rating
from holodeck.lib.graphrag.asking import Asker
from holodeck.lib.graphrag.causes import causes_of
from holodeck.lib.graphrag.points import number_in
from holodeck.lib.graphrag.refusals import is_of_all
from holodeck.lib.graphrag.side_by_side import side_by_side
from holodeck.lib.graphrag.values import CONCURRENCY, TRIES
from holodeck.lib.replies.json_reply import plain_keys, read_json

__all__ = ["GIVE_UP", "GREATEST_RATING", "RATE_PROMPT", "rate_reports"]

GREATEST_RATING = 5
GIVE_UP = 8
"""Reports of which none could be rated, after which no more are asked for."""
RATE_PROMPT = """You decide which reports of a document collection are worth reading in full.

Say how much the report below helps to answer the user's question:
0 - not at all: it is about other things
1 - barely: it touches the topic
2 - somewhat: it holds facts around the answer
3 - well: it holds a part of the answer
4 - very well: it holds most of the answer
5 - it answers the question

A report about a broad topic that the question belongs to is worth at least 1, since details may
follow below it. Reply with a JSON object and nothing else: {{"rating": <number from 0 to 5>}}

{report}
"""
"""Ours. For each report of a dynamic selection."""


async def rate_reports(
    asker: Asker, question: str, reports: Sequence[ContextReport]
) -> list[Rating]:
    """Rate the reports side by side.

    Raises:
        ProviderError: Every call would be refused alike.
        SearchError: None of the first could be rated.
    """
    failures: list[str] = []
    rated = 0

    async def rate(report: ContextReport) -> Rating:
        nonlocal rated
        rating = await _rate(asker, question, report)
        if rating.value is not None:
            rated += 1
            return rating
        failures.append(rating.failure)
        if not rated and len(failures) >= GIVE_UP:
            raise SearchError(
                f"the reports could not be rated: the first {len(failures)} ratings all failed "
                f"({causes_of(failures)}); set dynamic_community_selection: false, try another "
                "search_model, or ask again later"
            )
        return rating

    return await side_by_side(rate, reports, CONCURRENCY)


async def _rate(asker: Asker, question: str, report: ContextReport) -> Rating:
    failure = ""
    for _ in range(TRIES):
        try:
            reply = await asker.ask(
                "rate", question, {"report": f"{report.title}\n\n{report.content}"}
            )
        except ProviderError as error:
            if is_of_all(error):
                raise
            failure = str(error)
            if not error.retryable:
                break
            continue
        content = read_json(reply.text, lambda found: "rating" in found).content or {}
        value = number_in(plain_keys(content).get("rating"), GREATEST_RATING)
        if value is not None:
            return Rating(value=value)
        failure = f"the reply held no rating from 0 to {GREATEST_RATING}"
    return Rating(failure=failure)
