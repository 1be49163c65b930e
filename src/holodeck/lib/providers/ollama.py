"""Ollama through its own API, where the size of the context can be set: one try a call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

import httpx

from holodeck.errors import ContextLengthError
from holodeck.lib.contracts import ChatDelta, ChatModel, ChatReply, ChatRequest, Embedder
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.batches import split_into_batches
from holodeck.lib.providers.http_client import Json
from holodeck.lib.providers.loop import PerLoop
from holodeck.lib.providers.ollama_client import OllamaClient
from holodeck.lib.providers.ollama_context import SAFETY, ContextSize, prompt_tokens
from holodeck.lib.providers.ollama_wire import StreamedReply, chat_body, context_limit, reply_of
from holodeck.lib.providers.vectors import one_for_each, usable_rows
from holodeck.lib.tokens import count_tokens, encoding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OllamaChat", "OllamaEmbedder"]

logger = logging.getLogger(__name__)

_NO_SUCH_ROUTE = (404, 405, 501)
_GROWTHS = 2  # doublings; a prompt that our count underestimates by more is the server's mistake
_LONGEST_EMBEDDED = 8192


class _ContextLimit:
    """The most tokens that the model takes; asked of the server once."""

    def __init__(self, client: OllamaClient) -> None:
        self._client = client
        self._turn = PerLoop(asyncio.Lock)
        self._known: tuple[int | None] | None = None

    async def get(self, http: httpx.AsyncClient) -> int | None:
        """Return the limit, or ``None`` where the server does not say.

        Raises:
            httpx.HTTPStatusError: There is no such model.
        """
        async with self._turn.get():
            if self._known is None:
                self._known = (await self._ask(http),)
            return self._known[0]

    async def _ask(self, http: httpx.AsyncClient) -> int | None:
        try:
            shown = await self._client.post(http, "/api/show", {"model": self._client.access.name})
        except httpx.HTTPStatusError as error:
            response = error.response
            is_model = response.status_code == 404 and "model" in response.text
            if is_model or response.status_code not in _NO_SUCH_ROUTE:
                raise
            logger.debug("%s does not say how much its models take", self._client.endpoint.url)
            return None
        return context_limit(shown)


class OllamaChat(ChatModel):
    """A chat model of an Ollama server."""

    def __init__(self, access: ModelAccess) -> None:
        self.provider = access.provider
        self.name = access.name
        self._client = OllamaClient(access)
        self._context = ContextSize(access, self._client.seam)
        self._limit = _ContextLimit(self._client)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._client!r})"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request, with a context that holds all of it.

        Raises:
            ProviderError: As the contract says.
            ContextLengthError: The model cannot take the request whole; it is never cut.
        """

        async def ask(http: httpx.AsyncClient) -> ChatReply:
            limit = await self._limit.get(http)
            size = self._context.fit(prompt_tokens(request), request.max_tokens, limit)
            for growths_left in reversed(range(_GROWTHS + 1)):
                reply, said = await self._ask_once(http, request, size)
                if reply is not None:
                    return reply
                if growths_left:
                    size = self._context.grow(size, limit, said)
            raise self._client.seam.too_long(said)

        return await self._client.call(request.purpose, ask)

    async def _ask_once(
        self, http: httpx.AsyncClient, request: ChatRequest, size: int
    ) -> tuple[ChatReply | None, str]:
        """Return the reply, or ``None`` and why the prompt did not fit after all."""
        body = chat_body(self.name, request, size, stream=False)
        try:
            reply = reply_of(await self._client.post(http, "/api/chat", body))
        except httpx.HTTPStatusError as error:
            if not self._is_too_long(error):
                raise
            return None, "the server refused the prompt"
        if not reply.is_done:
            raise self._client.seam.unusable("it is not finished")
        if reply.prompt_tokens >= size:
            return None, _cut(reply)
        return reply.whole(), ""

    def _is_too_long(self, error: httpx.HTTPStatusError) -> bool:
        return isinstance(self._client.seam.translate(error, ""), ContextLengthError)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece.

        Raises:
            ProviderError: As for ``complete``; also when the stream breaks off.
        """

        async def pieces(http: httpx.AsyncClient) -> AsyncGenerator[ChatDelta, None]:
            limit = await self._limit.get(http)
            size = self._context.fit(prompt_tokens(request), request.max_tokens, limit)
            body = chat_body(self.name, request, size, stream=True)
            reply = StreamedReply()
            async with aclosing(self._client.post_lines(http, "/api/chat", body)) as lines:
                async for line in lines:
                    text = reply.add(line)
                    if text:
                        yield ChatDelta(text=text)
            if not reply.is_done:
                raise self._client.seam.unusable("the stream broke off")
            if reply.prompt_tokens >= size:
                # Too late for this one; where there is room, the next call has it.
                self._context.grow(size, limit, _cut(reply))
                raise self._client.seam.too_long(f"{_cut(reply)}; the next call has more room")
            yield ChatDelta(reply=reply.whole())

        async with aclosing(self._client.iterate(request.purpose, pieces)) as deltas:
            async for delta in deltas:
                yield delta

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        """Ask for a context that holds such a request from the first call on."""
        self._context.expect(prompt_tokens, answer_tokens)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _cut(reply: StreamedReply) -> str:
    return f"the server counted {reply.prompt_tokens} tokens and cut the prompt"


class OllamaEmbedder(Embedder):
    """An embedding model of an Ollama server.

    A text that is longer than the model takes is embedded in parts, whose vectors are averaged by
    their length: the server would drop its end without a word.
    """

    def __init__(self, access: ModelAccess) -> None:
        self.provider = access.provider
        self.name = access.name
        self._width = access.dimensions
        self._client = OllamaClient(access)
        self._limit = _ContextLimit(self._client)
        self._fixed: Json = {"model": access.name, "truncate": False}
        if access.dimensions is not None:
            self._fixed["dimensions"] = access.dimensions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._client!r})"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in order.

        Raises:
            ProviderError: As the contract says; a vector of another width names its text.
        """
        import numpy as np

        limit = await self._window() if texts else None
        rows = []
        for batch in split_into_batches(texts):
            parts = [_parts(text or " ", limit) for text in batch]
            vectors = await self._embed_parts([part for each in parts for part in each])
            rows.append(_averaged(vectors, parts))
        return np.concatenate(rows or [np.zeros((0, self._width or 0), dtype=np.float32)])

    async def _window(self) -> int | None:
        """Return the tokens of one text that are sent, where the server says how many it takes."""
        limit = await self._client.call("embed", self._limit.get)
        if limit is None:
            return None
        # One number for all calls: another would load the model anew.
        window = min(limit, _LONGEST_EMBEDDED)
        self._fixed["options"] = {"num_ctx": window}
        return window

    async def _embed_parts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        async def ask(http: httpx.AsyncClient) -> Json:
            return await self._client.post(http, "/api/embed", {**self._fixed, "input": texts})

        seam = self._client.seam
        answer = await self._client.call("embed", ask)
        sent = one_for_each(texts, answer.get("embeddings"), seam)
        vectors = usable_rows(sent, texts, seam, width=self._width)
        self._width = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _parts(text: str, limit: int | None) -> list[str]:
    """Return ``text``, or the pieces of it that a model with this limit takes."""
    room = None if limit is None else max(1, int(limit / SAFETY) - 8)
    if room is None or len(text.encode("utf-8", "surrogatepass")) <= room:
        return [text]  # a token has at least one byte
    if count_tokens(text) <= room:
        return [text]
    tokens = encoding().encode_ordinary(text)
    pieces = [tokens[start : start + room] for start in range(0, len(tokens), room)]
    return [encoding().decode(piece) for piece in pieces]


def _averaged(vectors: NDArray[np.float32], parts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """Return one row of length 1 for each text, from the rows of its parts."""
    import numpy as np

    if len(vectors) == len(parts):
        return vectors
    rows, start = [], 0
    for each in parts:
        weights = np.array([len(part) for part in each], dtype=np.float32)
        rows.append(weights @ vectors[start : start + len(each)])
        start += len(each)
    stacked = np.array(rows, dtype=np.float32)
    lengths = np.linalg.norm(stacked, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(
        stacked, lengths, out=np.zeros_like(stacked), where=lengths > 0
    )
    return unit
