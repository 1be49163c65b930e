"""One question to a model until it is answered: the first prompt, one re-ask, the gleanings.

What is kept in the reply store is the accepted outcome of the chain, under the key of its first
request: a chain that was not accepted is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest, Message
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.accept import Complaint, asked_again
from holodeck.lib.resources import reply_key
from holodeck.models.llm import ModelSettings

__all__ = ["Asker", "Judge", "Kept", "Memo"]

Judge = Callable[[ChatReply], Complaint | None]


class Memo(Protocol):
    """Where accepted outcomes are kept."""

    def get(self, key: str) -> str | None:
        """Return what was kept under ``key``."""
        ...

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep ``value``; it is durable when this returns."""
        ...


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


def _storable(text: str) -> str:
    """Return a text without the halves of characters that JSON may hold and no file can."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Asker:
    """Asks one model, and remembers what it accepted.

    Args:
        chat: The model.
        settings: Its temperature and greatest reply.
        memo: Where accepted outcomes are kept; ``None`` keeps nothing.
    """

    def __init__(self, chat: ChatModel, settings: ModelSettings, memo: Memo | None) -> None:
        self._chat = chat
        self._settings = settings
        self._memo = memo

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
        """Return the answer as kept, or ask for it and keep it."""
        key = self.key(purpose, prompt)
        kept = self.recall(key)
        if kept is None:
            kept = await self.answered(purpose, prompt, judge, json_object=json_object)
            self.keep(key, kept, purpose)
        return kept

    def key(self, purpose: str, prompt: str, *more: str) -> str:
        """Key of a chain: of its first request, and of what else decides how it goes on."""
        request = self._request(purpose, [Message(role="user", content=prompt)], json_object=False)
        model = self._settings.deployment_name or self._chat.name
        return content_id(reply_key(self._chat.provider, model, request), purpose, *more)

    def recall(self, key: str) -> Kept | None:
        """Return what was accepted under ``key``."""
        text = self._memo.get(key) if self._memo is not None else None
        return None if text is None else Kept.from_json(text)

    def keep(self, key: str, kept: Kept, kind: str) -> None:
        """Keep an accepted outcome."""
        if self._memo is not None:
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
