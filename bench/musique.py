"""MuSiQue with recorded facts: multi-hop questions, their passages, and a model's facts.

The folder holds ``questions.json``, ``corpus.json`` and ``openie.json``; nothing here asks a model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import (
    CommunityContext,
    Embedder,
    Entity,
    Extraction,
    Finding,
    Relationship,
    Report,
)
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.indexer import GraphRAGIndexer
from holodeck.lib.graphrag.open_index import open_index
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing.resources import FixedResources

__all__ = [
    "HashedWords",
    "Question",
    "RecordedFacts",
    "build_graph",
    "fingerprint",
    "passage_mark",
    "read_questions",
]

WIDTH = 1536
MARK = 60  # letters and digits by which a passage is recognised in a context
_STOP_WORDS = (
    "a an and are as at be been but by did do does for from had has have he her his how in into is"
    " it its not of on or she than that the their there they this to was were what when where which"
    " who whom whose why will with would"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, its passages, and those among them that an answer needs."""

    text: str
    passages: tuple[str, ...]
    gold: tuple[str, ...]


class HashedWords(Embedder):
    """Signed positions of words and of neighbouring pairs of words: weak, and the same for all."""

    provider = "bench"
    name = "hashed-words"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text."""
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            words = _WORD.findall(text.lower())
            for word in words:
                _add(row, word, 0.1 if word in STOP_WORDS else 1.0)
            for pair in pairwise(words):
                _add(row, " ".join(pair), 0.5)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        scaled: NDArray[np.float32] = (rows / np.maximum(lengths, 1e-9)).astype(np.float32)
        return scaled


def _add(row: NDArray[np.float32], word: str, weight: float) -> None:
    digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    row[digest % WIDTH] += weight if digest >> 63 else -weight


def fingerprint(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text.lower()))


def passage_mark(text: str) -> str:
    """Return what a passage is recognised by."""
    return fingerprint(text)[:MARK]


def read_questions(folder: Path) -> list[Question]:
    """Return the questions in order."""
    rows = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    return [
        Question(
            text=row["question"],
            passages=tuple(_passage(each) for each in row["paragraphs"]),
            gold=tuple(_passage(each) for each in row["paragraphs"] if each["is_supporting"]),
        )
        for row in rows
    ]


def _passage(paragraph: dict[str, Any]) -> str:
    return f"{paragraph['title']}\n{paragraph['paragraph_text']}"


class RecordedFacts:
    """``IndexSteps`` that replay what a model once read in each passage."""

    version = "recorded"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _facts(self) -> dict[str, dict[str, Any]]:
        docs = json.loads((self._folder / "openie.json").read_text(encoding="utf-8"))["docs"]
        return {passage_mark(doc["passage"]): doc for doc in docs}

    async def extract(self, text: str) -> Extraction:
        """Return the recorded entities and triples."""
        doc = self._facts[passage_mark(text)]
        triples = [
            tuple(map(str, triple)) for triple in doc["extracted_triples"] if len(triple) == 3
        ]
        names = dict.fromkeys(map(str, doc["extracted_entities"]))
        return Extraction(
            entities=tuple(
                Entity(
                    title=name,
                    type="thing",
                    description=". ".join(" ".join(t) for t in triples if name in (t[0], t[2])),
                )
                for name in names
            ),
            relationships=tuple(
                Relationship(source=s, target=o, description=f"{s} {p} {o}") for s, p, o in triples
            ),
        )

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        """Join the descriptions."""
        return ". ".join(descriptions)

    async def report(self, community: CommunityContext) -> Report:
        """List what is said of the community's most connected entities."""
        titles = [entity.title for entity in community.entities[:3]]
        said = [edge.description for edge in community.relationships[:8]]
        findings = tuple(Finding(summary=line, explanation=line) for line in said)
        return Report(title=", ".join(titles), summary=". ".join(said), findings=findings)


async def build_graph(folder: Path, passages: Sequence[str], work: Path) -> GraphIndex:
    """Index the passages in ``work`` with their recorded facts and open the index."""
    docs = work / "docs"
    if not docs.exists():
        docs.mkdir(parents=True)
        for number, passage in enumerate(passages):
            (docs / f"{number:04}.txt").write_text(passage, encoding="utf-8")
    tool = VectorstoreTool(
        name="musique",
        engine="graphrag",
        source="docs",
        graphrag=GraphRAGConfig(chunk_size=2000, chunk_overlap=0),
    )
    storage = GraphRAGStorage(tool, work)
    resources = FixedResources(embedder=HashedWords(), steps=RecordedFacts(folder))
    indexer = GraphRAGIndexer(tool, storage, resources=resources, in_process=True)
    await indexer.build_index(docs)
    return open_index(storage.output_dir, storage.vectors_dir)
