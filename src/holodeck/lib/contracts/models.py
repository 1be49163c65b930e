"""The models: who chats, who embeds, who reranks, whoever runs them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from holodeck.lib.contracts.spending import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Candidate",
    "ChatDelta",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Embedder",
    "Memo",
    "Message",
    "Reranker",
    "Tool",
    "ToolCall",
]


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A function that the model wants called; ``arguments`` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function that the model may call; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # Any: JSON Schema


@dataclass(frozen=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """What is asked of a chat model.

    Attributes:
        messages: The conversation, oldest first.
        purpose: What the call is for (``extract``, ``report``, ``answer`` …): metering, logs and
            progress are kept by it; it is not sent.
        temperature: ``None`` sends none, since some models refuse the field.
        max_tokens: Greatest length of the reply in tokens; ``None`` leaves it to the server.
        json: Whether the reply must be a JSON object.
        tools: What the model may call.
    """

    messages: tuple[Message, ...]
    purpose: str = "chat"
    temperature: float | None = None
    max_tokens: int | None = None
    json: bool = False
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """What the model answered; an empty ``text`` without tool calls is no answer."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChatDelta:
    """A piece of a streamed reply; the last one carries ``reply``, the whole."""

    text: str = ""
    reply: ChatReply | None = None


class ChatModel(ABC):
    """A language model that answers a conversation."""

    provider: str
    name: str

    @abstractmethod
    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request.

        Raises:
            ProviderError: The server refused, failed or could not be reached; ``retryable`` says
                whether the same call may succeed later.
        """

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece; a model that cannot stream sends the whole as one piece."""
        reply = await self.complete(request)
        yield ChatDelta(text=reply.text, reply=reply)

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:  # noqa: B027  # most models take any length as it comes
        """Be told how long the longest request to come will be.

        A server that gives a model room for so many tokens can then do it once, not request by
        request.

        Args:
            prompt_tokens: About how many tokens its messages have.
            answer_tokens: Its ``max_tokens``.
        """

    async def close(self) -> None:  # noqa: B027  # most models hold nothing
        """Release connections."""


class Memo(Protocol):
    """Where replies are kept by what they were asked with."""

    def get(self, key: str) -> str | None:
        """Return what was kept under ``key``."""
        ...

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep ``value``; it is durable when this returns."""
        ...


class Embedder(ABC):
    """A model that maps texts to vectors of one width."""

    provider: str
    name: str

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, in order: an array of shape ``(len(texts), width)``.

        Every row has length 1 (L2), or is zero for a text that the model knows no word of.

        Raises:
            ProviderError: As for ``ChatModel.complete``; also when the widths differ.
        """

    def kept(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the rows that are known without a call, by text."""
        return {}

    async def close(self) -> None:  # noqa: B027  # most embedders hold nothing
        """Release connections."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A passage that a search found, with the search's own score (higher is better)."""

    text: str
    score: float


class Reranker(ABC):
    """A model that says how well passages answer a question."""

    provider: str
    name: str

    @abstractmethod
    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return one score for each candidate, in their order; higher is better.

        Raises:
            ProviderError: As for ``ChatModel.complete``.
        """

    async def close(self) -> None:  # noqa: B027  # some hold nothing
        """Release connections."""
