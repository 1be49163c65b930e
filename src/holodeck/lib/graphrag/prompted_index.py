"""The thinking steps of a build, asked of a language model with the library's prompts.

What is kept in the reply store is the accepted outcome of a chain of requests (first prompt and
gleanings), under the key of the first request: a chain that was not accepted is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from holodeck.errors import ProviderError
from holodeck.lib.contracts import (
    ChatModel,
    ChatReply,
    ChatRequest,
    CommunityContext,
    Extraction,
    Message,
    Report,
)
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.parse import join_extractions, parse_extraction
from holodeck.lib.graphrag.parse_report import parse_report
from holodeck.lib.graphrag.prompts import fill
from holodeck.lib.graphrag.values import REPORT_WORDS
from holodeck.lib.graphrag.write_context import report_context
from holodeck.lib.resources import reply_key
from holodeck.models.llm import ModelSettings

__all__ = ["PROMPTED_VERSION", "Memo", "PromptedIndexSteps"]

SUMMARY_WORDS = 500

PROMPTED_VERSION = "prompted 1"
"""Raised when the steps give another output for the same replies: indexes are then built anew."""


class Memo(Protocol):
    """Where accepted outcomes are kept."""

    def get(self, key: str) -> str | None:
        """Return what was kept under ``key``."""
        ...

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep ``value``; it is durable when this returns."""
        ...


class PromptedIndexSteps:
    """``IndexSteps`` over a chat model.

    Args:
        chat: The indexing model.
        settings: Its temperature and greatest reply.
        prompts: The prompts of ``prompts.INDEX_PROMPTS``.
        entity_types: Types to extract.
        max_gleanings: Further passes over each text.
        memo: Where accepted outcomes are kept; ``None`` keeps nothing.
    """

    def __init__(
        self,
        *,
        chat: ChatModel,
        settings: ModelSettings,
        prompts: Mapping[str, str],
        entity_types: Sequence[str],
        max_gleanings: int,
        memo: Memo | None,
    ) -> None:
        self._chat = chat
        self._settings = settings
        self._prompts = prompts
        self._entity_types = ",".join(entity_types)
        self._max_gleanings = max_gleanings
        self._memo = memo

    @property
    def version(self) -> str:
        """What the output depends on besides input and settings."""
        return PROMPTED_VERSION

    async def extract(self, text: str) -> Extraction:
        """Return what one chunk says, over all passes."""
        prompt = fill(self._prompts["extract"], entity_types=self._entity_types, input_text=text)
        key = self._key("extract", prompt, str(self._max_gleanings))
        kept = self._recall(key)
        if kept is None:
            kept = await self._extraction_chain(prompt)
            self._keep(key, kept, "extract")
        return join_extractions(parse_extraction(reply) for reply in kept)

    async def _extraction_chain(self, prompt: str) -> list[str]:
        """Ask, then ask for what was missed while the model says that there is more."""
        messages = [Message(role="user", content=prompt)]
        replies: list[str] = []
        for turn in range(self._max_gleanings + 1):
            reply = await self._ask("glean" if turn else "extract", messages)
            replies.append(reply)
            if turn == self._max_gleanings:
                break
            messages.append(Message(role="assistant", content=reply))
            if turn and not await self._has_more(messages):
                break
            messages.append(Message(role="user", content=self._prompts["glean"]))
        return replies

    async def _has_more(self, messages: Sequence[Message]) -> bool:
        question = Message(role="user", content=self._prompts["glean_more"])
        reply = await self._ask("glean", [*messages, question])
        return reply.strip().upper().startswith("Y")

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        """Return one description made from several."""
        prompt = fill(
            self._prompts["summarize"],
            entity_name=json.dumps(subject, ensure_ascii=False),
            description_list=json.dumps(list(descriptions), ensure_ascii=False),
            max_length=str(SUMMARY_WORDS),
        )
        return (await self._once("summarize", prompt)).strip()

    async def report(self, community: CommunityContext) -> Report:
        """Return what a community is about."""
        prompt = fill(
            self._prompts["report"],
            input_text=report_context(community),
            max_report_length=str(REPORT_WORDS),
        )
        key = self._key("report", prompt)
        kept = self._recall(key)
        if kept is not None:
            return parse_report(kept[0])
        reply = await self._ask("report", [Message(role="user", content=prompt)], json_object=True)
        report = parse_report(reply)
        self._keep(key, [reply], "report")
        return report

    async def _once(self, purpose: str, prompt: str) -> str:
        key = self._key(purpose, prompt)
        kept = self._recall(key)
        if kept is None:
            kept = [await self._ask(purpose, [Message(role="user", content=prompt)])]
            self._keep(key, kept, purpose)
        return kept[0]

    async def _ask(
        self, purpose: str, messages: Sequence[Message], *, json_object: bool = False
    ) -> str:
        request = self._request(purpose, messages, json_object=json_object)
        return _text_of(await self._chat.complete(request), purpose)

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

    def _key(self, purpose: str, prompt: str, *more: str) -> str:
        """Key of a chain: of its first request, and of what else decides how it goes on."""
        request = self._request(purpose, [Message(role="user", content=prompt)], json_object=False)
        model = self._settings.deployment_name or self._chat.name
        return content_id(reply_key(self._chat.provider, model, request), purpose, *more)

    def _recall(self, key: str) -> list[str] | None:
        kept = self._memo.get(key) if self._memo is not None else None
        return None if kept is None else list(json.loads(kept))

    def _keep(self, key: str, replies: Sequence[str], kind: str) -> None:
        if self._memo is not None:
            self._memo.put(key, json.dumps(list(replies), ensure_ascii=False), kind)


def _text_of(reply: ChatReply, purpose: str) -> str:
    """Return the reply's text; no content is no answer."""
    if not reply.text.strip():
        raise ProviderError(
            f"the model gave no answer to a {purpose!r} request (finish reason "
            f"{reply.finish_reason!r}); with 'length', raise max_tokens",
            retryable=False,
        )
    return reply.text
