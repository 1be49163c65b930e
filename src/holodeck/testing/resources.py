"""Resources whose models are objects of a test, whatever the settings say."""

from __future__ import annotations

from typing import Any

from holodeck.lib.contracts import ChatModel, Embedder
from holodeck.lib.resources import Resources
from holodeck.models.llm import ModelSettings

__all__ = ["FixedResources"]


class FixedResources(Resources):
    """Give the same models for any settings: no key, no extra and no server is looked for.

    Args:
        embedder: The embedding model.
        chat: The language model; ``None`` where none is asked for.
        steps: ``IndexSteps`` and ``AnswerSteps`` in one; ``None``: they are prompts to ``chat``.

    Example:
        >>> from holodeck.testing.words import WordEmbedder
        >>> resources = FixedResources(embedder=WordEmbedder())
        >>> tool = VectorStoreTool(config, resources=resources)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        embedder: Embedder,
        chat: ChatModel | None = None,
        steps: Any | None = None,  # Any: the two protocols in one object
    ) -> None:
        super().__init__(environ={})
        self._embedder = embedder
        self._chat = chat
        self._fixed_steps = steps

    def check(self, settings: ModelSettings, where: str) -> None:
        """Find nothing missing."""

    def chat(self, settings: ModelSettings, where: str) -> ChatModel:
        """Return the language model.

        Raises:
            AssertionError: The test gave none.
        """
        if self._chat is None:
            raise AssertionError(f"{where}: a language model was asked for, and the test gave none")
        return self._chat

    def embedder(
        self,
        settings: ModelSettings,
        where: str,
        dimensions: int | None = None,
        *,
        width: int | None = None,
    ) -> Embedder:
        """Return the embedding model."""
        return self._embedder

    async def probe(self, settings: ModelSettings, where: str) -> None:
        """Ask nothing: the test's models are there."""

    async def probe_embedder(
        self, settings: ModelSettings, where: str, dimensions: int | None = None
    ) -> int | None:
        """Ask nothing: the test's models are there."""
        return None

    def steps(
        self, settings: ModelSettings, where: str, *, entity_types: tuple[str, ...] = ()
    ) -> Any | None:  # Any: as in __init__
        """Return the steps."""
        return self._fixed_steps

    async def close(self) -> None:
        """Close the models; they belong to the test and may be used on."""
        await self._embedder.close()
        if self._chat is not None:
            await self._chat.close()
