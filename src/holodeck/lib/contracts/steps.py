"""Who thinks for the graph engine: a language model behind prompts, or rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from holodeck.lib.contracts.records import (
    Answer,
    AnswerContext,
    CommunityContext,
    ContextReport,
    Extraction,
    FoundClaims,
    Rating,
    Report,
)

__all__ = ["AnswerSteps", "ClaimSteps", "IndexSteps", "RatingSteps", "WindowedSteps"]


class IndexSteps(Protocol):
    """Who thinks while an index is built: a language model behind prompts, or rules."""

    @property
    def version(self) -> str:
        """What the output depends on besides input and settings; part of an index's hash."""
        ...

    async def extract(self, text: str) -> Extraction:
        """Return what one chunk says."""
        ...

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        """Return one description of ``subject`` made from several."""
        ...

    async def report(self, community: CommunityContext) -> Report:
        """Return what a community is about."""
        ...


@runtime_checkable
class ClaimSteps(Protocol):
    """Who finds claims; a provider without a language model does not."""

    async def claims(self, text: str) -> FoundClaims:
        """Return what one chunk asserts of entities."""
        ...


class AnswerSteps(Protocol):
    """Who thinks when a question is asked."""

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        """Answer from the entities, relationships, reports and text units of the context."""
        ...

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        """Answer from all reports of a level: map over batches of them, then reduce."""
        ...


@runtime_checkable
class RatingSteps(Protocol):
    """Who says which reports are worth reading; a provider without a language model does not."""

    async def rate_reports(
        self, question: str, reports: Sequence[ContextReport]
    ) -> Sequence[Rating]:
        """Return how much each report helps to answer."""
        ...


@runtime_checkable
class WindowedSteps(Protocol):
    """Who takes no more than a window of text at once; what thinks by rules takes any."""

    def context_room(self, question: str, most: int) -> int:
        """Return the tokens of context, at most ``most``, that a local answer is made from."""
        ...
