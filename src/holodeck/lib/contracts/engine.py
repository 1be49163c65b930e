"""An engine: one way to index documents and to search them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from holodeck.lib.contracts.indexes import IndexPlaces, IndexStatus, RetryFailed
from holodeck.lib.contracts.spending import Estimate
from holodeck.lib.results import SearchResult

__all__ = ["SearchEngine"]


class SearchEngine(ABC):
    """One way to index documents and to search them; the tool holds exactly one."""

    modes: ClassVar[tuple[str, ...]]
    """The search modes that the engine offers; the first is what YAML gets by default."""

    mode_help: ClassVar[Mapping[str, str]] = {}
    """What each mode is for, in words that a model chooses by; empty: an agent's model has no use
    for the choice."""

    @property
    @abstractmethod
    def is_initialized(self) -> bool:
        """Whether ``search`` may be called."""

    @property
    @abstractmethod
    def index_stats(self) -> dict[str, int]:
        """Counts of what the index holds, ``files`` among them; empty before ``initialize``."""

    @property
    @abstractmethod
    def was_built(self) -> bool:
        """Whether the last ``initialize`` built; ``False``: the index was up to date."""

    @property
    @abstractmethod
    def places(self) -> IndexPlaces:
        """Where the index lies, or will."""

    @abstractmethod
    def status(self) -> IndexStatus:
        """Say what is indexed and how fresh it is; calls no model and opens no table."""

    @abstractmethod
    async def initialize(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> None:
        """Build or update the index when the documents or settings changed, then open it.

        ``force_reindex`` builds even when nothing changed, also when already initialised;
        ``retry_failed`` also when pieces of the last build failed, to ask for them again.

        Raises:
            FileNotFoundError: The source does not exist.
            IndexingError: The index could not be built; the old one is untouched.
        """

    @abstractmethod
    async def estimate(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> Estimate:
        """Say what ``initialize`` would ask of models, and what that costs.

        No model is asked, no key is needed and no file is written.

        Raises:
            FileNotFoundError: The source does not exist.
        """

    @abstractmethod
    async def open_existing(self) -> None:
        """Open the index that is there, stale or not; nothing is built.

        Raises:
            SearchError: There is no index.
        """

    @abstractmethod
    async def retrieve(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """Answer ``query`` in ``mode`` (default: the configured one).

        With ``answer=False`` no answer is made: context and sources only.

        Raises:
            NotInitializedError: ``initialize`` was not called.
            SearchError: The question could not be answered.
        """

    @abstractmethod
    def render(self, query: str, result: SearchResult) -> str:
        """Return what ``retrieve`` gave for a question as the text that an agent reads."""

    async def search(self, query: str, *, mode: str | None = None) -> str:
        """Answer ``query`` as the text that an agent reads; raises what ``retrieve`` raises."""
        return self.render(query, await self.retrieve(query, mode=mode))

    @abstractmethod
    async def close(self) -> None:
        """Release what was opened."""
