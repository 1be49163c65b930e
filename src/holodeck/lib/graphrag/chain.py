"""One question to a model until it is answered: the first prompt, one re-ask, the gleanings.

What is kept in the reply store is the accepted outcome of the chain, under the key of its first
request: a chain that was not accepted is asked again. Two that are the same are asked once, also
where nothing is kept.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest, Memo, Message
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.accept import Complaint, asked_again
from holodeck.lib.resources import reply_key
from holodeck.models.llm import ModelSettings

__all__ = ["Asker", "Judge", "Kept", "Memo", "still_answers"]

Judge = Callable[[ChatReply], Complaint | None]


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The accepted outcome of a chain.

    Attributes:
        replies: One for each pass.
        asked_again: Why a reply was asked for a second time.
        reading: What was read in the replies, as JSON, and ``version``: by which reader. Another
            reader reads them again.
    """

    replies: tuple[str, ...]
    asked_again: tuple[str, ...] = ()
    reading: Mapping[str, Any] | None = None  # Any: JSON

    def to_json(self) -> str:
        """Return what the store keeps."""
        content = {
            "replies": list(self.replies),
            "asked_again": list(self.asked_again),
            "reading": self.reading,
        }
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Kept:
        """Read what ``to_json`` wrote."""
        content = json.loads(text)
        return cls(
            replies=tuple(content["replies"]),
            asked_again=tuple(content["asked_again"]),
            reading=content.get("reading"),
        )


class _Forgotten:
    """A memo that ends with its asker."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self._kept.get(key)

    def put(self, key: str, value: str, kind: str) -> None:
        self._kept[key] = value


class _Turns:
    """Who waits to ask the same."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


def still_answers(kept: Kept, judge: Judge) -> bool:
    """Tell whether what was once accepted would be used today: replies are read ever better."""
    complaint = judge(ChatReply(text=kept.replies[0]))
    return complaint is None or complaint.is_usable


def _storable(text: str) -> str:
    """Return a text without the halves of characters that JSON may hold and no file can."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Asker:
    """Asks one model, and remembers what it accepted.

    Args:
        chat: The model.
        settings: Its temperature and greatest reply.
        memo: Where accepted outcomes are kept; ``None`` keeps them as long as this lives.
    """

    def __init__(self, chat: ChatModel, settings: ModelSettings, memo: Memo | None) -> None:
        self._chat = chat
        self._settings = settings
        self._memo: Memo = _Forgotten() if memo is None else memo
        self._turns: dict[str, _Turns] = {}

    async def ask(
        self, purpose: str, messages: Sequence[Message], *, json_object: bool = False
    ) -> ChatReply:
        """Ask once."""
        request = self._request(purpose, messages, json_object=json_object)
        reply = await self._chat.complete(request)
        return replace(reply, text=_storable(reply.text))

    async def answered(
        self, purpose: str, prompt: str, judge: Judge, *, json_object: bool = False
    ) -> Kept:
        """Ask, and once more with the complaint where the reply is no answer.

        Raises:
            ProviderError: The second reply was none either, or the server failed.
        """
        first = await self._one(purpose, prompt, json_object)
        complaint = judge(first)
        if complaint is None:
            return Kept(replies=(first.text,))
        again = asked_again(prompt, complaint, purpose)
        second = await self._one(purpose, again, json_object)
        still = judge(second)
        # Of two that are not as asked for, one that can be used is better than one that cannot.
        usable = second if still is None or still.is_usable else first
        if still is not None and not (still.is_usable or complaint.is_usable):
            raise still.error(purpose)
        return Kept(replies=(usable.text,), asked_again=(complaint.cause,))

    async def _one(self, purpose: str, prompt: str, json_object: bool) -> ChatReply:
        message = Message(role="user", content=prompt)
        return await self.ask(purpose, [message], json_object=json_object)

    async def remembered(
        self, purpose: str, prompt: str, judge: Judge, *, json_object: bool = False
    ) -> Kept:
        """Return the answer as kept, where it still is one, or ask for it and keep it."""
        key = self.key(purpose, prompt)
        async with self.alone(key):
            kept = self.recall(key)
            if kept is None or not still_answers(kept, judge):
                kept = await self.answered(purpose, prompt, judge, json_object=json_object)
                self.keep(key, kept, purpose)
            return kept

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Wait until nobody else asks for what ``key`` stands for; it may be kept by then."""
        turns = self._turns.setdefault(key, _Turns())
        turns.waiting += 1
        try:
            async with turns.lock:
                yield
        finally:
            turns.waiting -= 1
            if not turns.waiting:
                del self._turns[key]

    def key(self, purpose: str, prompt: str, *more: str) -> str:
        """Key of a chain: of its first request, and of what else decides how it goes on."""
        request = self._request(purpose, [Message(role="user", content=prompt)], json_object=False)
        model = self._settings.deployment_name or self._chat.name
        return content_id(reply_key(self._chat.provider, model, request), purpose, *more)

    def recall(self, key: str) -> Kept | None:
        """Return what was accepted under ``key``."""
        text = self._memo.get(key)
        return None if text is None else Kept.from_json(text)

    def keep(self, key: str, kept: Kept, kind: str) -> None:
        """Keep an accepted outcome."""
        self._memo.put(key, kept.to_json(), kind)

    def _request(
        self, purpose: str, messages: Sequence[Message], *, json_object: bool
    ) -> ChatRequest:
        return ChatRequest(
            messages=tuple(messages),
            purpose=purpose,
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_tokens,
            json=json_object,
        )
