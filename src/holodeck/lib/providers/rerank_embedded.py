"""A reranker without a model to ask: how well each word of the question is met in a passage.

The late interaction of ColBERT (Khattab and Zaharia, 2020) over static vectors of words: every word
of the question takes its most similar word of the passage, rare words count more, and the sum is
fused with the order that was there, which counts twice. What that does for some documents, their
test cases tell: ``holodeck test --compare rerank=false --compare rerank=true``.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import regex

from holodeck.lib.contracts import Candidate, Reranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.meter import Meter
    from holodeck.lib.providers.access import ModelAccess

__all__ = ["WordReranker"]

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_MOST_WORDS = 2_000
"""Words of a passage that are looked at; a chunk has fewer."""


class WordReranker(Reranker):
    """Word by word, with the vectors that the embedded provider has."""

    provider = "embedded"

    def __init__(self, access: ModelAccess, _meter: Meter | None = None) -> None:
        self.name = access.name

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return one score from 0 to 1 for each candidate, in their order."""
        return await asyncio.to_thread(_scores, question, candidates)


def _scores(question: str, candidates: Sequence[Candidate]) -> list[float]:
    import numpy as np

    texts = [_words(candidate.text) for candidate in candidates]
    asked = list(dict.fromkeys(_words(question)))
    before = np.array([candidate.score for candidate in candidates], dtype=np.float32)
    met = _met(asked, texts)
    fused = 2 * _standard(before) + _standard(met)
    return [float(score) for score in 1 / (1 + np.exp(-fused))]


def _standard(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how many standard deviations each score lies above the mean; 0 where all are equal."""
    spread = float(scores.std())
    standard: NDArray[np.float32] = (scores - scores.mean()) / (spread or 1.0)
    return standard


def _met(asked: Sequence[str], texts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """Return how well each text meets the words that are asked, weighted by their rarity."""
    import numpy as np

    from holodeck.lib.providers.static_vectors import shared_vectors

    vocabulary = list(dict.fromkeys(word for words in (asked, *texts) for word in words))
    if not asked or len(vocabulary) == len(asked):
        return np.zeros(len(texts), dtype=np.float32)
    vectors = shared_vectors().embed(vocabulary)
    rows = {word: number for number, word in enumerate(vocabulary)}
    holders = Counter(word for words in texts for word in set(words))
    weights = np.array(
        [math.log(1 + len(texts) / (1 + holders[word])) for word in asked], dtype=np.float32
    )
    similar = vectors[[rows[word] for word in asked]] @ vectors.T
    found = [
        (similar[:, [rows[word] for word in words]].max(axis=1) * weights).sum() if words else 0.0
        for words in texts
    ]
    return np.array(found, dtype=np.float32) / max(float(weights.sum()), 1e-9)


def _words(text: str) -> list[str]:
    return [match[0] for match in islice(_WORD.finditer(text.casefold()), _MOST_WORDS)]
