"""OpenAI and every server that speaks its wire format: one try a call, errors in our tree.

Retries, limits, counts and the cache are wrappers around these (see ``wrappers``).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar

from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk

from holodeck.lib.contracts import ChatDelta, ChatModel, ChatReply, ChatRequest, Embedder
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.batches import split_into_batches
from holodeck.lib.providers.openai_client import OpenAIClient
from holodeck.lib.providers.openai_wire import StreamedReply, chat_arguments, reply_of
from holodeck.lib.providers.seam import Seam
from holodeck.lib.providers.vectors import one_for_each, usable_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OpenAIChat", "OpenAIEmbedder"]

_ENVELOPE = ("id", "object", "created", "model", "choices", "usage")
_NO_COMPLETION = "it is no chat completion: check the URL"
_EMPTY_STREAM = (
    "the stream ended before it began, as that of some servers does when the request is longer "
    "than the model takes"
)


class OpenAIChat(ChatModel):
    """A chat model behind the OpenAI wire format."""

    client_class: ClassVar[type[OpenAIClient]] = OpenAIClient

    def __init__(self, access: ModelAccess) -> None:
        self.provider = access.provider
        self.name = access.name
        self._client = self.client_class(access)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._client!r})"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request.

        Raises:
            ProviderError: As the contract says; also when the reply has no choices.
            ContentFilterError: The model refused.
        """
        completion = await self._client.post(
            request.purpose, "/chat/completions", self._arguments(request)
        )
        seam = self._client.seam
        if completion is None or "choices" not in completion:
            raise seam.unusable(_NO_COMPLETION, retryable=False)
        if not completion["choices"]:
            rest = {k: v for k, v in completion.items() if k not in _ENVELOPE and v is not None}
            raise seam.unusable(f"no choices ({rest or 'and no error'})")
        reply, refusal = reply_of(completion)
        return _accepted(seam, reply, refusal)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece.

        Raises:
            ProviderError: As for ``complete``; also when the stream breaks off.
        """
        arguments = self._arguments(request)
        headers = self._client.request_headers
        seam = self._client.seam

        async def pieces(client: AsyncOpenAI) -> AsyncGenerator[ChatDelta, None]:
            stream = await client.chat.completions.create(
                **arguments,
                stream=True,
                stream_options={"include_usage": True},
                extra_headers=headers,
            )
            if isinstance(stream, str) or _is_web_page(stream):
                raise seam.unusable(_NO_COMPLETION, retryable=False)
            reply = StreamedReply()
            async with stream:
                async for chunk in stream:
                    text = reply.add(chunk)
                    if text:
                        yield ChatDelta(text=text)
            if reply.is_empty:
                raise seam.unusable(_EMPTY_STREAM)
            if reply.finish_reason is None:
                raise seam.unusable("the stream broke off")
            yield ChatDelta(reply=_accepted(seam, reply.whole(), reply.refusal))

        async with aclosing(self._client.iterate(request.purpose, pieces)) as deltas:
            async for delta in deltas:
                yield delta

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        # The family is told by the model's own name; the server may call it otherwise.
        return {**chat_arguments(self.name, request), "model": self._client.model_on_wire}

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _is_web_page(stream: AsyncStream[ChatCompletionChunk]) -> bool:
    """Tell whether a proxy or another program answered; its page would be an empty stream."""
    kind: str = stream.response.headers.get("content-type", "")
    return kind.lower().startswith("text/html")


def _accepted(seam: Seam, reply: ChatReply, refusal: str | None) -> ChatReply:
    if refusal:
        raise seam.filtered(refusal)
    if reply.finish_reason == "content_filter":
        raise seam.filtered("its content filter cut the reply")
    return reply


class OpenAIEmbedder(Embedder):
    """An embedding model behind the OpenAI wire format.

    Texts are sent in batches; an empty text, which the vendor refuses, is sent as one space.
    The width of the first reply holds for all that follow.
    """

    client_class: ClassVar[type[OpenAIClient]] = OpenAIClient

    def __init__(self, access: ModelAccess) -> None:
        self.provider = access.provider
        self.name = access.name
        self._width = access.dimensions
        self._client = self.client_class(access)
        self._arguments: dict[str, Any] = {
            "model": self._client.model_on_wire,
            "encoding_format": "base64",
        }
        if access.dimensions is not None:
            self._arguments["dimensions"] = access.dimensions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._client!r})"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in order.

        Raises:
            ProviderError: As the contract says; a vector of another width names its text.
        """
        import numpy as np

        batches = [await self._embed_batch(batch) for batch in split_into_batches(texts)]
        return np.concatenate(batches or [np.zeros((0, self._width or 0), dtype=np.float32)])

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        sent = [text or " " for text in texts]
        response = await self._client.post(
            "embed", "/embeddings", {"input": sent, **self._arguments}
        )
        seam = self._client.seam
        items = one_for_each(texts, None if response is None else response.get("data"), seam)
        try:
            sent = [each["embedding"] for each in sorted(items, key=_index)]
        except (KeyError, TypeError) as error:
            raise seam.unusable("an embedding in it cannot be read", retryable=False) from error
        vectors = usable_rows(sent, texts, seam, width=self._width)
        self._width = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _index(item: Mapping[str, Any]) -> int:  # Any: JSON
    index: int = item["index"]
    return index
