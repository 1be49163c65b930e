"""Gold documents of the example questions: in the context, and among the first five sources.

The target is read as: a question counts when every one of its gold documents is among the sources
of the context that its own mode makes with the settings left alone. For a global question that is a
low bar, since its context is every report. The first five sources are the strict reading, as an
agent reads them: by relevance before an answer, cited ones first after it. BM25 ranks whole
documents (files, pages of the PDF, records of the table). A source counts once.
"""

from __future__ import annotations

import asyncio
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.source import read_source
from holodeck.lib.results import SearchResult
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "polar"
FIRST = 5


@dataclass(frozen=True, kw_only=True)
class _Found:
    """Files of a question's sources: all of the context, and the first five twice."""

    context: set[str]
    relevant: set[str]
    answered: set[str]


def run(_data: Path | None) -> None:
    """Print, for each question, how many gold documents each way found."""
    questions = yaml.safe_load((EXAMPLE / "questions.yaml").read_text(encoding="utf-8"))
    asked = questions["questions"]
    ours = asyncio.run(_ours(asked))
    bm25 = _bm25([question["question"] for question in asked])
    columns = ("gold", "context", "gold/5", "relevant", "answered", "BM25")
    print(f"{'question':<22}{'mode':<8}" + "".join(f"{name:>10}" for name in columns))
    totals: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for question, found, plain in zip(asked, ours, bm25, strict=True):
        gold = {entry if isinstance(entry, str) else entry["path"] for entry in question["gold"]}
        scores = {
            "gold": len(gold),
            "context": len(gold & found.context),
            "gold/5": min(len(gold), FIRST),
            "relevant": len(gold & found.relevant),
            "answered": len(gold & found.answered),
            "BM25": len(gold & set(plain)),
        }
        _row(question["id"], question["mode"], scores, columns)
        totals.update(scores)
        whole["gold"] += 1
        whole["context"] += scores["context"] == scores["gold"]
        whole["gold/5"] += 1
        whole.update({n: 1 for n in columns[3:] if scores[n] >= scores["gold/5"]})
    _row("sum", "", totals, columns)
    _row("questions with all", "", whole, columns)


def _row(name: str, mode: str, scores: Mapping[str, int], columns: Sequence[str]) -> None:
    print(f"{name:<22}{mode:<8}" + "".join(f"{scores[column]:>10}" for column in columns))


async def _ours(asked: Sequence[Mapping[str, str]]) -> list[_Found]:
    """Search with the embedded provider; the first five are those of local search."""
    with tempfile.TemporaryDirectory() as folder:
        tool = VectorStoreTool(
            VectorstoreTool(name="bench", engine="graphrag", source=str(EXAMPLE / "docs")),
            base_dir=folder,
            agent_model=LLMProvider(provider="embedded"),
        )
        await tool.initialize()
        found = []
        for each in asked:
            question = each["question"]
            context = await tool.retrieve(question, mode=each["mode"], answer=False)
            relevant = await tool.retrieve(question, mode="local", answer=False)
            answered = await tool.retrieve(question, mode="local")
            found.append(
                _Found(
                    context={source.path for source in context.sources},
                    relevant=_first(relevant),
                    answered=_first(answered),
                )
            )
        await tool.close()
    return found


def _first(result: SearchResult) -> set[str]:
    places = dict.fromkeys(source.place for source in result.sources)
    return {place.path for place in list(places)[:FIRST]}


def _bm25(questions: Sequence[str], k1: float = 1.5, b: float = 0.75) -> list[list[str]]:
    """Return the first five documents' files by BM25 (Robertson and Zaragoza, 2009)."""
    documents = read_source(EXAMPLE / "docs", ReadOptions()).documents
    bags = [Counter(_terms(document.text)) for document in documents]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(lengths)
    frequency = Counter(term for bag in bags for term in bag)

    def score(terms: Iterable[str], bag: Counter[str], length: int) -> float:
        return sum(
            math.log(1 + (len(bags) - frequency[term] + 0.5) / (frequency[term] + 0.5))
            * bag[term]
            * (k1 + 1)
            / (bag[term] + k1 * (1 - b + b * length / mean))
            for term in terms
            if bag[term]
        )

    ranked = []
    for question in questions:
        terms = set(_terms(question))
        scores = [score(terms, bag, length) for bag, length in zip(bags, lengths, strict=True)]
        order = sorted(range(len(bags)), key=lambda i: (-scores[i], documents[i].place))
        places = [documents[i].place for i in order[:FIRST]]
        ranked.append([place.path for place in places])
    return ranked


def _terms(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
