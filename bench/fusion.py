"""How the default engine joins meaning and words: its own way beside ranks and standard scores.

All passages of the multi-hop questions of MuSiQue, and two embeddings: hashed words, which are
weak, and the embedded provider's. Printed are the mean of 1 / the rank of the first gold passage
(MRR) and the share of gold passages among the first 5 and 10, each with the 95% interval of a
bootstrap over questions. Nothing was tuned on them.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.musique import HashedWords, Question, read_questions
from bench.retrieval import interval
from holodeck.lib.documents import Document, Place, content_id
from holodeck.lib.indexes.text_units import prepare
from holodeck.lib.ranking.fuse import fuse
from holodeck.lib.vectorstore.search import Question as Asked
from holodeck.lib.vectorstore.search import find
from holodeck.lib.vectorstore.store import ChunkStore, open_store, write_store

Floats = NDArray[np.floating]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Scores = Callable[[ChunkStore, Asked], Floats]

RANK_CONSTANT = 60
LONGEST = 8_000  # tokens: every passage is one chunk
MEASURES = ("MRR", "recall@5", "recall@10")


def _by_mode(mode: str) -> Scores:
    def scores(store: ChunkStore, asked: Asked) -> Floats:
        found = np.zeros(len(store))
        for place, hit in enumerate(find(store, asked, mode, top_k=len(store))):
            found[hit.row] = len(store) - place
        return found

    return scores


def _halves(store: ChunkStore, asked: Asked) -> tuple[Floats, Floats]:
    return store.similarities(asked.embedding()), store.matches(asked.text)


def _reciprocal_ranks(store: ChunkStore, asked: Asked) -> Floats:
    total = np.zeros(len(store))
    for scores in _halves(store, asked):
        ranks = np.empty(len(store))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(store) + 1)
        total += np.where(scores > 0, 1 / (RANK_CONSTANT + ranks), 0)
    return total


def _standard_scores(store: ChunkStore, asked: Asked) -> Floats:
    return fuse(*_halves(store, asked))


METHODS: dict[str, Scores] = {
    "vector": _by_mode("vector"),
    "keyword": _by_mode("keyword"),
    "reciprocal ranks": _reciprocal_ranks,
    "standard scores": _standard_scores,
    "hybrid (the default)": _by_mode("hybrid"),
}


def run(data: Path | None) -> None:
    """Print a table for each embedding."""
    if data is None:
        print("needs --data DIR, a folder that holds musique/")
        return
    questions = read_questions(data / "musique")
    passages = list(dict.fromkeys(each for question in questions for each in question.passages))
    for name, embed in _embeddings().items():
        print(f"\n{len(passages):,} passages, {len(questions)} questions, {name}")
        print(f"{'':<22}" + "".join(f"{measure:>22}" for measure in MEASURES))
        with tempfile.TemporaryDirectory() as work:
            store = _open(Path(work) / "store", passages, embed)
            vectors = embed([question.text for question in questions])
            for method, scores in METHODS.items():
                rows = [
                    _measured(
                        store, question, scores(store, Asked(text=question.text, vector=vector))
                    )
                    for question, vector in zip(questions, vectors, strict=True)
                ]
                print(f"{method:<22}" + "".join(f"{_cell(each):>22}" for each in np.array(rows).T))


def _embeddings() -> dict[str, Embed]:
    from holodeck.lib.providers.static_vectors import shared_vectors

    return {
        "hashed words": lambda texts: asyncio.run(HashedWords().embed(texts)),
        "the embedded provider": lambda texts: shared_vectors().embed(texts),
    }


def _open(folder: Path, passages: Sequence[str], embed: Embed) -> ChunkStore:
    documents = [
        Document(place=Place(path=f"{number}.txt"), text=text)
        for number, text in enumerate(passages)
    ]
    units = prepare(documents, LONGEST, 0).text_units
    write_store(folder, units, embed([unit.text for unit in units]))
    return open_store(folder)


def _measured(store: ChunkStore, question: Question, scores: Floats) -> list[float]:
    gold = set(map(content_id, question.gold))
    ids = store.ids
    order = [ids[row] in gold for row in np.argsort(-scores, kind="stable").tolist()]
    return [1 / (1 + order.index(True)), sum(order[:5]) / len(gold), sum(order[:10]) / len(gold)]


def _cell(values: Floats) -> str:
    low, high = interval(np.asarray(values, dtype=np.float64))
    return f"{values.mean():.3f} [{low:.2f}-{high:.2f}]"
