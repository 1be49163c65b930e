"""Gold passages in the context of multi-hop questions: flat searches beside both rankings.

The same passages, recorded facts, embeddings and tokens (characters / 4) for all. The weights of
``ranking: graph`` were tuned on questions 16 to 57; 58 to 100 are the ones to believe, with the 95%
interval of a bootstrap over questions; 1 to 15 stand beside figures of other systems.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.musique import (
    HashedWords,
    Question,
    build_graph,
    fingerprint,
    passage_mark,
    read_questions,
)
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import LocalQuestion, select_local
from holodeck.lib.graphrag.values import LOCAL_VALUES
from holodeck.lib.ranking.fuse import best_rows, fuse

GROUPS = {"1-15": slice(0, 15), "16-57": slice(15, 57), "58-100": slice(57, 100)}
BUDGETS = (1200, 4000, 7000)
LEVEL = 2
RESAMPLES = 10_000

Context = Callable[[GraphIndex, LocalQuestion, int], str]


def _vector(index: GraphIndex, question: LocalQuestion) -> NDArray[np.floating]:
    assert index.unit_vectors is not None
    return index.unit_vectors.similarities(question.vector, len(index.text_units))


def _words(index: GraphIndex, question: LocalQuestion) -> NDArray[np.floating]:
    return index.words.units.scores(question.text)


def _hybrid(index: GraphIndex, question: LocalQuestion) -> NDArray[np.floating]:
    return fuse(_vector(index, question), _words(index, question))


def _flat(score: Callable[[GraphIndex, LocalQuestion], NDArray[np.floating]]) -> Context:
    """Return the context of the best passages that fit, and of nothing else."""

    def context(index: GraphIndex, question: LocalQuestion, tokens: int) -> str:
        scores = score(index, question)
        text = ""
        for row in best_rows(scores, len(scores)).tolist():
            longer = f"{text}{row}|{index.text_units.texts[row]}\n"
            if len(longer) > 4 * tokens:
                break
            text = longer
        return text

    return context


def _ranked(ranking: str) -> Context:
    """Return the context of a ranking, its budget lowered until the characters fit."""

    def context(index: GraphIndex, question: LocalQuestion, tokens: int) -> str:
        budget = tokens
        while True:
            values = replace(LOCAL_VALUES[ranking], context_tokens=budget)
            text = select_local(index, question, ranking, values).context.text
            if len(text) <= 4 * tokens:
                return text
            budget = min(budget - 1, int(budget * 4 * tokens / len(text)))

    return context


METHODS: dict[str, Context] = {
    "vector": _flat(_vector),
    "BM25": _flat(_words),
    "flat hybrid": _flat(_hybrid),
    "library": _ranked("library"),
    "graph": _ranked("graph"),
}


@dataclass(frozen=True, kw_only=True)
class _Group:
    index: GraphIndex
    questions: Sequence[Question]
    vectors: NDArray[np.float32]

    def shares(self, context: Context, tokens: int) -> NDArray[np.float64]:
        """Return, for each question, the share of its gold passages in the context."""
        shares = []
        for question, vector in zip(self.questions, self.vectors, strict=True):
            asked = LocalQuestion(text=question.text, vector=vector, level=LEVEL)
            text = fingerprint(context(self.index, asked, tokens))
            shares.append(np.mean([passage_mark(passage) in text for passage in question.gold]))
        return np.array(shares)


def run(data: Path | None) -> None:
    """Print mean and all for every method, budget and group of questions."""
    if data is None:
        print("needs --data DIR, a folder that holds musique/")
        return
    folder = data / "musique"
    questions = read_questions(folder)
    with tempfile.TemporaryDirectory() as work:
        for name, part in GROUPS.items():
            group = asyncio.run(_open(folder, questions[part], Path(work) / name))
            print(f"\nquestions {name}: {len(group.index.text_units)} passages")
            print(f"{'mean/all':<14}" + "".join(f"{tokens:>28,}" for tokens in BUDGETS))
            for method, context in METHODS.items():
                cells = [_cell(group.shares(context, tokens)) for tokens in BUDGETS]
                print(f"{method:<14}" + "".join(f"{cell:>28}" for cell in cells))
            gains = [
                group.shares(METHODS["graph"], tokens)
                - group.shares(METHODS["flat hybrid"], tokens)
                for tokens in BUDGETS
            ]
            print(f"{'graph - flat':<14}" + "".join(f"{_gain(gain):>28}" for gain in gains))


async def _open(folder: Path, questions: Sequence[Question], work: Path) -> _Group:
    passages = list(dict.fromkeys(each for question in questions for each in question.passages))
    return _Group(
        index=await build_graph(folder, passages, work),
        questions=questions,
        vectors=await HashedWords().embed([question.text for question in questions]),
    )


def _cell(shares: NDArray[np.float64]) -> str:
    low, high = interval(shares)
    return f"{shares.mean():.3f} [{low:.2f}-{high:.2f}]/{(shares == 1).mean():.3f}"


def _gain(differences: NDArray[np.float64]) -> str:
    low, high = interval(differences)
    return f"{differences.mean():+.3f} [{low:+.2f}, {high:+.2f}]"


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% interval of the mean, by resampling questions."""
    chosen = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[chosen].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
