"""Provider ``embedded``: no key, no server, no download.

It has no language model: vectors come from word vectors inside a package, and everything that a
model would write is quoted from the documents instead.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import TYPE_CHECKING

from holodeck.errors import ConfigError
from holodeck.lib.contracts import (
    Answer,
    AnswerContext,
    AnswerSteps,
    CommunityContext,
    ContextReport,
    Embedder,
    Extraction,
    IndexSteps,
    Report,
)
from holodeck.lib.extras import require_extra
from holodeck.lib.providers.extractive.answer import answer_from_context, answer_from_reports
from holodeck.lib.providers.extractive.describe import summarize
from holodeck.lib.providers.extractive.extract import build_extraction, read_by_rules
from holodeck.lib.providers.extractive.pipeline import SpacyReader
from holodeck.lib.providers.extractive.report import write_report
from holodeck.lib.providers.static_vectors import WIDTHS, shared_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.providers.access import ModelAccess

__all__ = ["EXTRACTIVE_VERSION", "ExtractiveSteps", "WordLlamaEmbedder"]

EXTRACTIVE_VERSION = 1
"""Raised when the steps give another output for the same input: indexes are then built anew."""


class WordLlamaEmbedder(Embedder):
    """Static word vectors, averaged over a text: fast, and blind to word order.

    Raises:
        ConfigError: The model is not ``wordllama``, or its width is not one of ``WIDTHS``.
        MissingExtraError: The extra ``embedded`` is not installed.
    """

    def __init__(self, access: ModelAccess) -> None:
        if access.name != "wordllama":
            raise ConfigError(
                f"provider: embedded has one embedding model, 'wordllama', and no "
                f"{access.name!r}: write 'wordllama' or leave the name out",
                field=access.where,
            )
        width = 256 if access.dimensions is None else access.dimensions
        if width not in WIDTHS:
            raise ConfigError(
                f"the embedding model 'wordllama' has vectors of 64, 128 or 256 numbers, "
                f"not {width}: choose one of these or leave the width out",
                field=access.where,
            )
        require_extra("embedded", "provider: embedded")
        self.provider = access.provider
        self.name = access.name
        self._width = width

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text; reads the vectors at the first call."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        return shared_vectors().embed(texts, self._width)


class ExtractiveSteps(IndexSteps, AnswerSteps):
    """The thinking steps without a language model: names by rule, all else quoted.

    ``access.name`` is ``extractive``, or the spaCy pipeline (an installed package or a folder) that
    finds and types the names. The same input gives the same output, always.

    Args:
        access: The model settings.
        entity_types: The types that entities may have; none: all that the rules know.

    Raises:
        ConfigError: The spaCy pipeline is not there.
        MissingExtraError: The extra ``embedded`` or spaCy is not installed.
    """

    def __init__(self, access: ModelAccess, *, entity_types: Sequence[str] = ()) -> None:
        require_extra("embedded", "provider: embedded")
        self.provider = access.provider
        self.name = access.name
        self._entity_types = tuple(entity_types)
        self._reader = (
            None if access.name == "extractive" else SpacyReader(access.name, access.where)
        )

    @property
    def version(self) -> str:
        """Everything that the output depends on besides the input: part of an index's hash."""
        parts = [f"extractive {EXTRACTIVE_VERSION}", f"textblob {version('textblob')}"]
        return ", ".join([*parts, *([self._reader.version] if self._reader else [])])

    async def extract(self, text: str) -> Extraction:
        """Return the names in ``text``, and as relationships which share a sentence."""
        return await asyncio.to_thread(self._extract, text)

    def _extract(self, text: str) -> Extraction:
        return build_extraction(
            self._reader(text) if self._reader else read_by_rules(text), self._entity_types
        )

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        """Return the two or three best sentences, those that name ``subject`` first."""
        return await asyncio.to_thread(summarize, subject, descriptions)

    async def report(self, community: CommunityContext) -> Report:
        """Return the sentences that matter most; title and rating are computed."""
        return await asyncio.to_thread(write_report, community)

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        """Quote the sentences of the context that fit the question."""
        return await asyncio.to_thread(answer_from_context, question, context, _vectors)

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        """Quote the sentences of the reports that fit the question, from several of them."""
        return await asyncio.to_thread(answer_from_reports, question, reports, _vectors)


def _vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    return shared_vectors().embed(texts)
