"""Answers, asked of a language model with the library's search prompts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holodeck.errors import ContextLengthError, ProviderError, SearchError
from holodeck.lib.contracts import (
    Answer,
    AnswerContext,
    ChatModel,
    ChatRequest,
    ContextReport,
    Message,
)
from holodeck.lib.graphrag.parse_report import json_object
from holodeck.lib.graphrag.prompts import fill
from holodeck.lib.graphrag.values import LOCAL, MAP, REDUCE
from holodeck.lib.graphrag.write_context import report_batch
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings

__all__ = ["NOTHING_RELEVANT", "PromptedAnswerSteps"]

NOTHING_RELEVANT = "Nothing relevant to this question was found in the documents."
MAP_CONCURRENCY = 32
QUESTION_TOKENS = 500
"""Of a long question, which is asked together with its records."""


@dataclass(frozen=True, kw_only=True)
class _Point:
    text: str
    score: int


class PromptedAnswerSteps:
    """``AnswerSteps`` over a chat model.

    Args:
        chat: The search model.
        settings: Its temperature and greatest reply.
        prompts: The prompts of ``prompts.SEARCH_PROMPTS``, as kept beside the index.
        response_type: Form and language of the answer, in words.
    """

    def __init__(
        self,
        *,
        chat: ChatModel,
        settings: ModelSettings,
        prompts: Mapping[str, str],
        response_type: str,
    ) -> None:
        self._chat = chat
        self._settings = settings
        self._prompts = prompts
        self._response_type = response_type
        chat.expect(_longest_prompt(prompts), settings.max_tokens)

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        """Answer from the context with one call."""
        system = fill(
            self._prompts["local"], context_data=context.text, response_type=self._response_type
        )
        return Answer(text=await self._ask("answer", system, question))

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        """Map over batches of reports, then reduce their points to one answer.

        Raises:
            SearchError: No batch could be read; "nothing relevant" is an answer, this is not.
        """
        limit = asyncio.Semaphore(MAP_CONCURRENCY)
        batches = _batches(reports)
        parts = await asyncio.gather(*(self._read(question, batch, limit) for batch in batches))
        mapped = [points for part in parts for points in part]
        failed = sum(points is None for points in mapped)
        if mapped and failed == len(mapped):
            raise SearchError(
                f"global search failed: the model's replies to all {failed} batch(es) of reports "
                "were not the JSON that was asked for, or the reports are longer than it takes; "
                "try another search_model"
            )
        notes = (f"{failed} of {len(mapped)} batches of reports could not be read",)
        points = [point for found in mapped if found for point in found if point.score > 0]
        if not points:
            return Answer(text=NOTHING_RELEVANT, notes=notes if failed else ())
        text = await self._reduce(question, points)
        return Answer(text=text, notes=notes if failed else ())

    async def _read(
        self, question: str, batch: Sequence[ContextReport], limit: asyncio.Semaphore
    ) -> list[list[_Point] | None]:
        """Return the points of a batch; of its halves where the whole is too long for the model.

        A reply that cannot be read is asked for once more; ``None`` stands for one that is lost.
        """
        try:
            async with limit:
                points = await self._points(question, batch)
                if points is None:
                    points = await self._points(question, batch)
        except ContextLengthError:
            if len(batch) == 1:
                return [None]
            middle = len(batch) // 2
            halves = (batch[:middle], batch[middle:])
            parts = await asyncio.gather(*(self._read(question, half, limit) for half in halves))
            return [points for part in parts for points in part]
        return [points]

    async def _points(self, question: str, batch: Sequence[ContextReport]) -> list[_Point] | None:
        system = fill(
            self._prompts["map"], context_data=report_batch(batch), max_length=str(MAP.words)
        )
        content = json_object(await self._ask("map", system, question, json_reply=True))
        listed = None if content is None else content.get("points")
        if not isinstance(listed, list):
            return None
        points = [point for item in listed if (point := _point(item)) is not None]
        # A list of which nothing can be read is no answer; an empty list is one.
        return None if listed and not points else points

    async def _reduce(self, question: str, points: Sequence[_Point]) -> str:
        sections: list[str] = []
        left = REDUCE.data_tokens
        for number, point in enumerate(sorted(points, key=lambda p: -p.score), start=1):
            section = f"----Analyst {number}----\nImportance Score: {point.score}\n{point.text}"
            left -= count_tokens(section)
            if left < 0:
                break
            sections.append(section)
        system = fill(
            self._prompts["reduce"],
            report_data="\n\n".join(sections),
            response_type=self._response_type,
            max_length=str(REDUCE.words),
        )
        return await self._ask("reduce", system, question)

    async def _ask(
        self, purpose: str, system: str, question: str, *, json_reply: bool = False
    ) -> str:
        reply = await self._chat.complete(
            ChatRequest(
                messages=(
                    Message(role="system", content=system),
                    Message(role="user", content=question),
                ),
                purpose=purpose,
                temperature=self._settings.temperature,
                max_tokens=self._settings.max_tokens,
                json=json_reply,
            )
        )
        if not reply.text.strip():
            raise ProviderError(
                f"the model gave no answer to a {purpose!r} request (finish reason "
                f"{reply.finish_reason!r}); with 'length', raise max_tokens"
            )
        return reply.text


def _point(item: object) -> _Point | None:
    """Return a point of the model's list, or ``None`` when it has no text or no score."""
    if not isinstance(item, dict) or not isinstance(item.get("description"), str):
        return None
    try:
        score = float(item.get("score", ""))
    except (TypeError, ValueError):
        return None
    return _Point(text=item["description"], score=int(score)) if math.isfinite(score) else None


def _batches(reports: Sequence[ContextReport]) -> list[list[ContextReport]]:
    """Cut the reports, kept in order, into batches that fit a map prompt."""
    batches: list[list[ContextReport]] = []
    left = 0
    for report in reports:
        size = count_tokens(report.title) + count_tokens(report.content)
        if not batches or size > left:
            batches.append([])
            left = MAP.data_tokens
        batches[-1].append(report)
        left -= size
    return batches


def _longest_prompt(prompts: Mapping[str, str]) -> int:
    """Return about how many tokens the longest request of an answer has."""
    records = {
        "local": LOCAL.context_tokens,
        "map": MAP.data_tokens,
        "reduce": REDUCE.data_tokens,
    }
    return QUESTION_TOKENS + max(
        count_tokens(prompts[name]) + tokens for name, tokens in records.items()
    )
