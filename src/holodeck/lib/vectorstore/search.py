"""How a question ranks the chunks of a store: a mode is a function and a row in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holodeck.errors import SearchError
from holodeck.lib.ranking.terms import question_terms
from holodeck.lib.vectorstore.store import ChunkStore, Ranked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SEARCH_MODES", "Question", "SearchMode", "find"]

CANDIDATES = 200
"""Chunks that each half of a hybrid search brings, and that a limit chooses from."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question as the modes need it.

    Attributes:
        text: Not blank.
        vector: Its embedding; ``None`` where nobody needs it.
    """

    text: str
    vector: NDArray[np.float32] | None = None

    def embedding(self) -> NDArray[np.float32]:
        """Return the embedding.

        Raises:
            SearchError: The question was not embedded.
        """
        if self.vector is None:
            raise SearchError("the question was not embedded, which this search needs: report this")
        return self.vector


def rank_by_vector(store: ChunkStore, question: Question, count: int) -> list[Ranked]:
    """Rank by the cosine of the embeddings."""
    return store.nearest(question.embedding(), count)


def rank_by_keyword(store: ChunkStore, question: Question, count: int) -> list[Ranked]:
    """Rank by BM25 over the terms."""
    return store.matching(question_terms(question.text), count)


def rank_by_both(store: ChunkStore, question: Question, count: int) -> list[Ranked]:
    """Rank by the mean of cosine and BM25, the latter as a share of the best one: 0 to 1.

    A mean of scores and not of ranks: a passage far ahead of the others stays far ahead.
    """
    nearest = store.nearest(question.embedding(), count)
    matching = {hit.id: hit.score for hit in rank_by_keyword(store, question, count)}
    best = max(matching.values(), default=1.0)
    ids = sorted({*matching, *(hit.id for hit in nearest)})
    cosines = store.similarities(ids, question.embedding())
    ranked = [
        Ranked(id=key, score=(max(cosines[key], 0.0) + matching.get(key, 0.0) / best) / 2)
        for key in ids
    ]
    return sorted(ranked, key=lambda hit: (-hit.score, hit.id))[:count]


@dataclass(frozen=True, kw_only=True)
class SearchMode:
    """One way to search.

    Attributes:
        rank: Returns at most so many chunks, best first; equal scores by id.
        needs_vector: Whether the question is embedded for it.
    """

    rank: Callable[[ChunkStore, Question, int], list[Ranked]]
    needs_vector: bool = True


SEARCH_MODES: Mapping[str, SearchMode] = {
    "hybrid": SearchMode(rank=rank_by_both),
    "vector": SearchMode(rank=rank_by_vector),
    "keyword": SearchMode(rank=rank_by_keyword, needs_vector=False),
}
"""Mode → how it works; the first is the default."""


def find(
    store: ChunkStore,
    question: Question,
    mode: str,
    *,
    top_k: int,
    least_similarity: float | None = None,
    allowed: frozenset[str] | None = None,
) -> list[Ranked]:
    """Return the best ``top_k`` chunks.

    Left out are those whose cosine is below a limit, and those that are not allowed, if any are
    named; then every chunk is a candidate, since the best of all may not be allowed.
    """
    count = max(CANDIDATES, top_k) if allowed is None else max(len(store.ids), 1)
    ranked = SEARCH_MODES[mode].rank(store, question, count)
    if allowed is not None:
        ranked = [hit for hit in ranked if hit.id in allowed]
    if least_similarity is not None:
        cosines = store.similarities([hit.id for hit in ranked], question.embedding())
        ranked = [hit for hit in ranked if cosines[hit.id] >= least_similarity]
    return ranked[:top_k]
