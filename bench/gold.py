"""Gold documents of the example questions among the first five sources, beside BM25's first five.

A source counts once however many of its text units are cited; BM25 ranks the same documents (whole
files, pages of the PDF, records of the table) by the plain text of the question.
"""

from __future__ import annotations

import asyncio
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.source import read_source
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "polar"
FIRST = 5


def run(_data: Path | None) -> None:
    """Print, for each question, which gold documents each of the two found."""
    questions = yaml.safe_load((EXAMPLE / "questions.yaml").read_text(encoding="utf-8"))
    asked = questions["questions"]
    ours = asyncio.run(_ours([question["question"] for question in asked]))
    bm25 = _bm25([question["question"] for question in asked])
    print(f"{'question':<22}{'mode':<8}{'gold':>5}{'ours':>6}{'BM25':>6}")
    totals: Counter[str] = Counter()
    for question, found, plain in zip(asked, ours, bm25, strict=True):
        gold = {entry if isinstance(entry, str) else entry["path"] for entry in question["gold"]}
        reachable = min(len(gold), FIRST)
        scores = {"ours": len(gold & set(found)), "bm25": len(gold & set(plain))}
        print(
            f"{question['id']:<22}{question['mode']:<8}{reachable:>5}"
            f"{scores['ours']:>6}{scores['bm25']:>6}"
        )
        totals["gold"] += reachable
        for name, score in scores.items():
            totals[name] += score
            totals[f"all {name}"] += score >= reachable
    print(f"{'sum':<30}{totals['gold']:>5}{totals['ours']:>6}{totals['bm25']:>6}")
    whole = ("questions with all gold", len(asked), totals["all ours"], totals["all bm25"])
    print("{:<30}{:>5}{:>6}{:>6}".format(*whole))


async def _ours(questions: Sequence[str]) -> list[list[str]]:
    """Return the first five sources' files of local search with the embedded provider."""
    with tempfile.TemporaryDirectory() as folder:
        tool = VectorStoreTool(
            VectorstoreTool(name="bench", engine="graphrag", source=str(EXAMPLE / "docs")),
            base_dir=folder,
            agent_model=LLMProvider(provider="embedded"),
        )
        await tool.initialize()
        found = []
        for question in questions:
            result = await tool.retrieve(question, mode="local")
            places = dict.fromkeys(source.place for source in result.sources)
            found.append([place.path for place in list(places)[:FIRST]])
        await tool.close()
    return found


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
