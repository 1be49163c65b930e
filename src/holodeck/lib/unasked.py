"""Models that are not asked: they count what they would be asked, and what is kept already.

Whoever builds with them takes the very way of a real build, so that what is counted is what would
be sent. Nothing is written, no key is needed and no provider is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest, Embedder, Memo
from holodeck.lib.paid_replies import REPLIES_FILE, PaidReplies
from holodeck.lib.providers.batches import split_into_batches
from holodeck.lib.providers.embedding_cache import CachedEmbedder
from holodeck.lib.resources import Resources
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
        super().__init__(execution, environ={})
        is_kept = cache_dir is not None and (cache_dir / REPLIES_FILE).exists()
        self.paid = _ImaginedToo(
            cache_dir if is_kept and execution.cache else None, renews=execution.cache == "renew"
        )
        self.asked: list[Asked] = []
        self._imagine = imagine

    def check(self, settings: ModelSettings, where: str) -> None:
        """Find nothing missing: nobody is asked."""

    def chat(self, settings: ModelSettings, where: str) -> ChatModel:
        """Return a model that counts."""
        name = settings.name or self.reach.row(settings, where).chat_default
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
        row = self.reach.row(settings, where)
        model = _UnaskedEmbedder(settings.provider, settings.name or row.embedding_default)
        store = self.paid.store
        if store is None or row.chat is None:
            return model
        return CachedEmbedder(
            model,
            store,
            model=settings.deployment_name,
            dimensions=dimensions,
            width=width,
        )


class _ImaginedToo(PaidReplies):
    """Paid replies, and for this run alone what is imagined."""

    def __init__(self, folder: Path | None, *, renews: bool) -> None:
        super().__init__(folder, renews=renews)
        self._imagined: dict[str, str] = {}

    def of(self, settings: ModelSettings) -> Memo:
        """Return the replies of any model: they stand under keys of their own."""
        return self

    def get(self, key: str) -> str | None:
        """Return the text that is kept, or was imagined, under ``key``."""
        kept = None if self.store is None else self.store.get(key)
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
