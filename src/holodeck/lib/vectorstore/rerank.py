"""What a search found, ordered anew by a reranker."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from holodeck.errors import ProviderError
from holodeck.lib.contracts import Candidate, Reranker
from holodeck.lib.vectorstore.chunks import StoredChunk

__all__ = ["reranked"]

logger = logging.getLogger(__name__)

Hit = tuple[StoredChunk, float]


async def reranked(
    question: str, hits: Sequence[Hit], reranker: Reranker
) -> tuple[list[Hit], tuple[str, ...]]:
    """Return the hits in the reranker's order with its scores, and what the user should know.

    A failure that may pass leaves the order as it was, and a note says so.

    Raises:
        ProviderError: One that will not pass: a wrong key, a model that there is not.
    """
    candidates = [Candidate(text=chunk.text, score=score) for chunk, score in hits]
    try:
        scores = await reranker.rerank(question, candidates)
    except ProviderError as error:
        if not error.retryable:
            raise
        logger.warning("not reranked: %s", error)
        return list(hits), (f"not reranked, the order is that of the search: {error}",)
    order = sorted(range(len(hits)), key=lambda number: (-scores[number], number))
    return [(hits[number][0], scores[number]) for number in order], ()
