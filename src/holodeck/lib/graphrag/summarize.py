"""What the text units say of one thing → one description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holodeck.errors import HolodeckError
from holodeck.lib.contracts import Failure
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.failures import failure_of
from holodeck.lib.tokens import count_tokens, cut_to_tokens, is_longer_than

__all__ = ["SUMMARY_INPUT_TOKENS", "as_found", "describe"]

SUMMARY_INPUT_TOKENS = 4000
"""Descriptions of one request, so that a hub that is in every chunk never outgrows a model."""


def as_found(build: Build, descriptions: Sequence[str]) -> str | None:
    """Return the descriptions joined where they are short; ``None``: they must be summarised."""
    joined = "\n".join(descriptions)
    return joined if len(descriptions) < 2 or not _is_wanted(build, joined) else None


async def describe(build: Build, subject: str, descriptions: Sequence[str]) -> str:
    """Return a summary of descriptions.

    One that fails leaves them joined, as far as they fit into one request.
    """
    key = content_id(subject, *descriptions)
    failure = build.known_failures.get(("summary", key))
    if failure is None:
        outcome = await _summary(build, subject, descriptions, key)
        if isinstance(outcome, str):
            return outcome
        failure = outcome
    build.failures.append(failure)
    return cut_to_tokens("\n".join(descriptions), SUMMARY_INPUT_TOKENS)


def _is_wanted(build: Build, joined: str) -> bool:
    return build.summarize == "always" or is_longer_than(joined, build.summary_threshold)


async def _summary(
    build: Build, subject: str, descriptions: Sequence[str], key: str
) -> str | Failure:
    """Summarise in batches, and the summaries again, until one is left."""
    texts = list(descriptions)
    try:
        while len(texts) > 1:
            texts = [
                await build.steps.summarize(subject, batch) if len(batch) > 1 else batch[0]
                for batch in _batches(texts)
            ]
    except HolodeckError as error:
        return failure_of(error, "summary", key, subject)
    return texts[0]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield runs of texts that fit into one request, two at least but for the last."""
    batch: list[str] = []
    left = SUMMARY_INPUT_TOKENS
    for text in texts:
        cut = cut_to_tokens(text, SUMMARY_INPUT_TOKENS // 2)
        size = count_tokens(cut)
        if batch and size > left:
            yield batch
            batch, left = [], SUMMARY_INPUT_TOKENS
        batch.append(cut)
        left -= size
    if batch:
        yield batch
