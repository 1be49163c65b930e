"""A build of which no model hears: the steps run as they will, on what is kept already."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from holodeck.lib.contracts import (
    ChatRequest,
    ClaimSteps,
    CommunityContext,
    Embedder,
    Extraction,
    Failure,
    FoundClaims,
    IndexSteps,
    Report,
)
from holodeck.lib.graphrag.build import STEPS, Build
from holodeck.lib.graphrag.embed import Embedding
from holodeck.lib.graphrag.prepare import Prepared, write_prepared
from holodeck.lib.graphrag.tables import read_rows
from holodeck.lib.graphrag.thinkers import open_claim_steps, open_index_steps
from holodeck.lib.imports import load_object
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.resources import ResolvedTool
from holodeck.lib.tokens import count_tokens
from holodeck.lib.unasked import Asked, UnaskedResources
from holodeck.models.tool import GraphRAGConfig

__all__ = ["MARK", "NOTHING_FOUND", "Rehearsal", "imagined", "rehearse"]

MARK = "\ue000"
"""Stands for a text that no model was asked for yet."""

NOTHING_FOUND = "<|COMPLETE|>"
"""Stands for what a model finds in a chunk; its own reply may be shorter by as much."""
_REPLIES = {
    "extract": NOTHING_FOUND,
    "glean": NOTHING_FOUND,
    "claims": NOTHING_FOUND,
    "summarize": MARK,
    "report": json.dumps({"title": MARK, "summary": MARK}),
}
_NOT_REHEARSED = "generate_text_embeddings"  # it needs vectors, and only counts what is handed over


def imagined(request: ChatRequest) -> str:
    """Return the shortest reply that lets a build go on."""
    return _REPLIES[request.purpose]


@dataclass(kw_only=True)
class Rehearsal:
    """What a build would ask, as far as that is known before it begins.

    Attributes:
        asked: The requests, of those that depend on a reply only the shortest.
        open_texts: Chunks of which not everything is known yet.
        new_texts: Chunks that no model was asked about at all.
        claim_texts: Chunks whose claims no model was asked for.
        texts: What would be embedded and is not kept, by vector table; a text with ``MARK`` in it
            depends on a reply.
        descriptions: Tokens of all descriptions that are known.
        communities: That the known graph has.
    """

    asked: Sequence[Asked] = ()
    open_texts: list[str] = field(default_factory=list)
    new_texts: list[str] = field(default_factory=list)
    claim_texts: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    descriptions: int = 0
    communities: int = 0

    def requests(self, purpose: str) -> list[Asked]:
        """Return the requests of one purpose."""
        return [each for each in self.asked if each.request.purpose == purpose]

    def purposes_since(self, number: int) -> set[str]:
        """Return what was asked for after so many requests."""
        return {each.request.purpose for each in self.asked[number:]}


async def rehearse(
    prepared: Prepared,
    resolved: ResolvedTool,
    resources: UnaskedResources,
    *,
    known_failures: Sequence[Failure] = (),
    vector_width: int | None = None,
    memo: StepMemo,
) -> Rehearsal:
    """Run the steps of a build in a folder that is deleted again.

    Args:
        prepared: The documents.
        resolved: The tool, its models filled in.
        resources: Models that count.
        known_failures: What failed in the last build and will not be asked for again.
        vector_width: Of the kept vectors that may be used, where it is known.
        memo: What the steps of the published generation made of what.
    """
    found = Rehearsal(asked=resources.asked)
    steps = _Watched(open_index_steps(resolved, resources), found)
    claims = open_claim_steps(resolved, steps.inner)
    graphrag = resolved.tool.graphrag or GraphRAGConfig()
    with tempfile.TemporaryDirectory(prefix="holodeck-") as folder:
        build = _Build(
            output=Path(folder),
            vectors=Path(folder),
            steps=steps,
            claims=None if claims is None else _WatchedClaims(claims, found),
            embedder=resources.embedder(resolved.embedding, "embedding_model", width=vector_width),
            max_failed_share=1.0,
            summarize=graphrag.summarize,
            summary_threshold=graphrag.summary_threshold,
            report_threshold=graphrag.quoted_tokens,
            communities=graphrag.communities,
            known_failures={(each.what, each.id): each for each in known_failures},
            memo=memo,
        )
        write_prepared(prepared, build.output)
        for step in STEPS:
            is_wanted = build.claims is not None or not step.only_with_claims
            if step.function and is_wanted and step.workflow != _NOT_REHEARSED:
                await load_object(step.function)(build)
        found.texts = build.embedding.missing()
        found.descriptions = sum(
            count_tokens(row["description"])
            for table in ("entities", "relationships")
            for row in read_rows(build.output, table, ["description"])
        )
        found.communities = len(read_rows(build.output, "communities", ["id"]))
    return found


class _Collected(Embedding):
    """Takes what is handed over to be embedded, and asks for nothing."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._texts: dict[str, dict[str, None]] = {}

    def add(self, table: str, texts: Iterable[tuple[str, str]]) -> None:
        """Take (id, text) pairs of a vector table."""
        self._texts.setdefault(table, {}).update(dict.fromkeys(text for _, text in texts))

    def missing(self) -> dict[str, list[str]]:
        """Return the texts whose vectors are not kept, each once, by table."""
        seen: set[str] = set()
        found: dict[str, list[str]] = {}
        for table, texts in self._texts.items():
            kept = self._embedder.kept([text for text in texts if MARK not in text])
            found[table] = [text for text in texts if text not in kept and text not in seen]
            seen.update(found[table])
        return found


@dataclass(frozen=True, kw_only=True)
class _Build(Build):
    @cached_property
    def embedding(self) -> _Collected:
        """What is handed over."""
        return _Collected(self.embedder)


class _Watched:
    """Notes which texts models are asked about; steps run one at a time here."""

    def __init__(self, inner: IndexSteps, found: Rehearsal) -> None:
        self.inner = inner
        self._found = found

    @property
    def version(self) -> str:
        return self.inner.version

    async def extract(self, text: str) -> Extraction:
        before = len(self._found.asked)
        extraction = await self.inner.extract(text)
        purposes = self._found.purposes_since(before)
        if purposes:
            self._found.open_texts.append(text)
        if "extract" in purposes:
            self._found.new_texts.append(text)
        return extraction

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        return await self.inner.summarize(subject, descriptions)

    async def report(self, community: CommunityContext) -> Report:
        return await self.inner.report(community)


class _WatchedClaims:
    """Notes which texts models are asked about for claims."""

    def __init__(self, inner: ClaimSteps, found: Rehearsal) -> None:
        self._inner = inner
        self._found = found

    async def claims(self, text: str) -> FoundClaims:
        before = len(self._found.asked)
        claims = await self._inner.claims(text)
        if "claims" in self._found.purposes_since(before):
            self._found.claim_texts.append(text)
        return claims
