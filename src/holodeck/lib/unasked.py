"""Models that are not asked: they count what they would be asked, and what is kept already.

Whoever builds with them takes the very way of a real build, so that what is counted is what would
be sent. Nothing is written, no key is needed and no provider is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest, Embedder
from holodeck.lib.providers.batches import split_into_batches
from holodeck.lib.providers.embedding_cache import CachedEmbedder
from holodeck.lib.providers.reply_store import ReplyStore
from holodeck.lib.resources import REPLIES_FILE, Resources
from holodeck.lib.tokens import count_tokens
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Asked", "UnaskedResources", "batches_of"]

Imagine = Callable[[ChatRequest], str]
"""What stands for the reply to a request, so that the chain it belongs to goes on."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request that would have been made."""

    request: ChatRequest
    input_tokens: int


def batches_of(texts: Sequence[str]) -> int:
    """Return how many requests embed these texts."""
    return sum(1 for _ in split_into_batches(texts))


class UnaskedResources(Resources):
    """Resources whose models count.

    Args:
        execution: Whether there is a cache, and whether it is renewed.
        cache_dir: Folder of the paid replies; it may not exist.
        imagine: What stands for a reply.

    Attributes:
        asked: Every request that would have been made, in order.
    """

    def __init__(
        self, execution: ExecutionConfig, *, cache_dir: Path | None, imagine: Imagine
    ) -> None:
        file = None if cache_dir is None else cache_dir / REPLIES_FILE
        super().__init__(
            execution, environ={}, cache_dir=cache_dir if file and file.exists() else None
        )
        self.asked: list[Asked] = []
        self._imagine = imagine
        self._memo = _RunMemo(self.replies)

    def check(self, settings: ModelSettings, where: str) -> None:
        """Find nothing missing: nobody is asked."""

    def chat(self, settings: ModelSettings, where: str) -> ChatModel:
        """Return a model that counts."""
        name = settings.name or self._row(settings, where).chat_default
        return _UnaskedChat(settings.provider, name, self.asked, self._imagine)

    def embedder(
        self,
        settings: ModelSettings,
        where: str,
        dimensions: int | None = None,
        *,
        width: int | None = None,
    ) -> Embedder:
        """Return a model of which only ``kept`` is of use."""
        row = self._row(settings, where)
        model = _UnaskedEmbedder(settings.provider, settings.name or row.embedding_default)
        store = self.replies
        if store is None or row.chat is None:
            return model
        return CachedEmbedder(
            model,
            store,
            model=settings.deployment_name,
            dimensions=dimensions,
            width=width,
        )

    def replies_of(self, settings: ModelSettings) -> _RunMemo:
        """Return what is kept; what is imagined is kept for this run alone."""
        return self._memo


class _RunMemo:
    def __init__(self, store: ReplyStore | None) -> None:
        self._store = store
        self._imagined: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """Return the text that is kept, or was imagined, under ``key``."""
        kept = None if self._store is None else self._store.get(key)
        return self._imagined.get(key) if kept is None else kept

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep a text while this lives."""
        self._imagined[key] = value


class _UnaskedChat(ChatModel):
    def __init__(self, provider: str, name: str, asked: list[Asked], imagine: Imagine) -> None:
        self.provider = provider
        self.name = name
        self._asked = asked
        self._imagine = imagine

    async def complete(self, request: ChatRequest) -> ChatReply:
        tokens = sum(count_tokens(message.content) for message in request.messages)
        self._asked.append(Asked(request=request, input_tokens=tokens))
        return ChatReply(text=self._imagine(request))


class _UnaskedEmbedder(Embedder):
    def __init__(self, provider: str, name: str) -> None:
        self.provider = provider
        self.name = name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("an estimate asks which vectors are kept, and for none")
