"""How a question ranks the chunks of a store: a mode is a function and a row in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holodeck.errors import SearchError
from holodeck.lib.ranking.fuse import best_rows
from holodeck.lib.vectorstore.store import ChunkStore

__all__ = ["RANKINGS", "Question", "Ranked", "find"]

CANDIDATES = 200
SHARE = 1_000
"""So many chunks, or the thousandth part of all, are measured exactly; where looks are rough, a
limit chooses from them."""

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A chunk that was found, by its row; a higher score is better."""

    row: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question as the modes need it.

    Attributes:
        text: Not blank.
        vector: Its embedding; ``None`` where nobody needs it.
    """

    text: str
    vector: Floats | None = None

    def embedding(self) -> Floats:
        """Return the embedding.

        Raises:
            SearchError: The question was not embedded.
        """
        if self.vector is None:
            raise SearchError("the question was not embedded, which this search needs: report this")
        return self.vector


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How many chunks are wanted, and which may be."""

    count: int
    allowed: Flags | None

    def best(self, scores: Floats) -> Rows:
        """Return the rows of the best scores above 0."""
        if self.allowed is not None:
            scores = np.where(self.allowed, scores, np.float32(0))
        rows = best_rows(scores, self.count)
        return rows[scores[rows] > 0]


Ranking = Callable[[ChunkStore, Question, Choice], tuple[Rows, Floats]]


def rank_by_vector(store: ChunkStore, question: Question, choice: Choice) -> tuple[Rows, Floats]:
    """Rank by the cosine of the embeddings."""
    vector = question.embedding()
    rows = choice.best(store.similarities(vector))
    return rows, store.cosines(rows, vector)


def rank_by_keyword(store: ChunkStore, question: Question, choice: Choice) -> tuple[Rows, Floats]:
    """Rank by BM25 over the terms."""
    matches = store.matches(question.text)
    rows = choice.best(matches)
    return rows, matches[rows]


def rank_by_both(store: ChunkStore, question: Question, choice: Choice) -> tuple[Rows, Floats]:
    """Rank by the mean of cosine and BM25, the latter as a share of the best one: 0 to 1.

    A mean of scores and not of ranks: a passage far ahead of the others stays far ahead.
    """
    vector = question.embedding()
    shares = store.matches(question.text)
    shares /= shares.max(initial=0) or 1
    rows = choice.best(_mean(store.similarities(vector), shares))
    return rows, _mean(store.cosines(rows, vector), shares[rows])


def _mean(cosines: Floats, shares: Floats) -> Floats:
    """Return the mean; a chunk that means the contrary is worth as little as one far away."""
    mean: Floats = np.maximum(cosines, 0)
    mean += shares
    mean /= 2
    return mean


RANKINGS: Mapping[str, Ranking] = {
    "hybrid": rank_by_both,
    "vector": rank_by_vector,
    "keyword": rank_by_keyword,
}
"""Mode → the rows of the best chunks above 0 and their scores, in any order."""


def find(
    store: ChunkStore,
    question: Question,
    mode: str,
    *,
    top_k: int,
    least_similarity: float | None = None,
    allowed: Flags | None = None,
) -> list[Ranked]:
    """Return the best ``top_k`` chunks, equal scores by id.

    Left out are those whose cosine is below a limit, and those that are not allowed, if any are
    named.
    """
    if least_similarity is not None:
        near = store.near(question.embedding(), least_similarity)
        if near is not None:
            allowed = near if allowed is None else allowed & near
    choice = Choice(count=max(CANDIDATES, top_k, len(store) // SHARE), allowed=allowed)
    rows, scores = RANKINGS[mode](store, question, choice)
    keep = scores > 0
    if least_similarity is not None:
        keep &= store.cosines(rows, question.embedding()) >= least_similarity
    rows, scores = rows[keep], scores[keep]
    order = np.lexsort((rows, -scores))[:top_k].tolist()
    return [Ranked(row=int(rows[place]), score=float(scores[place])) for place in order]
