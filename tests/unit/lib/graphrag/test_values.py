"""The engine's values where the user sets nothing: each is the plan's, and what is done with it."""

from __future__ import annotations

import asyncio
import json

import pytest

from holodeck.lib.contracts import ChatReply, ChatRequest, ContextReport
from holodeck.lib.graphrag.communities import MAX_COMMUNITY_SIZE
from holodeck.lib.graphrag.prompted_answer import PromptedAnswerSteps
from holodeck.lib.graphrag.reports import MAX_INPUT_TOKENS
from holodeck.lib.graphrag.values import (
    CONCURRENCY,
    LOCAL,
    LOCAL_VALUES,
    MAP,
    REDUCE,
    REPORT_WORDS,
)
from holodeck.lib.tokens import ENCODING_NAME, count_tokens
from holodeck.models.llm import ModelSettings
from holodeck.models.tool import DEFAULT_ENTITY_TYPES, GraphRAGConfig
from holodeck.testing import ScriptedChat

pytestmark = pytest.mark.unit


def test_the_values_are_those_of_the_plan() -> None:
    """What differs from the library's own is meant to."""
    assert DEFAULT_ENTITY_TYPES == ("organization", "person", "location", "event", "concept")
    assert ENCODING_NAME == "cl100k_base"
    assert LOCAL_VALUES["library"] is LOCAL
    assert (LOCAL.text_unit_share, LOCAL.community_share) == (0.5, 0.1)
    assert (LOCAL.entities, LOCAL.relationships, LOCAL.context_tokens) == (10, 10, 12_000)
    assert (MAP.words, REDUCE.words, CONCURRENCY) == (1000, 2000, 32)
    assert GraphRAGConfig().dynamic_community_selection is False
    assert (REPORT_WORDS, MAX_INPUT_TOKENS) == (2000, 8000)
    assert MAX_COMMUNITY_SIZE == 10


def test_tokens_are_counted_as_cl100k_base_counts() -> None:
    """A text whose tokens the makers of the encoding publish."""
    assert count_tokens("tiktoken is great!") == 6


class _CountingChat(ScriptedChat):
    """Answers with a point, and knows how many questions were open at once."""

    def __init__(self) -> None:
        super().__init__([])
        self.open = self.most = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer once all that may be open are."""
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(0)  # all others take their turn
        self.open -= 1
        return ChatReply(text=json.dumps({"points": [{"description": "A fact", "score": 9}]}))


async def test_global_search_asks_of_32_batches_at_once() -> None:
    """Each batch holds one long report; the thirty-third waits."""
    chat = _CountingChat()
    steps = PromptedAnswerSteps(
        chat=chat,
        settings=ModelSettings(name="m"),
        prompts={"map": "{context_data} {max_length}", "reduce": "{report_data} {max_length}"},
        response_type="one line",
    )
    reports = [
        ContextReport(number=number, title="T", content="word " * 7000, rank=5)
        for number in range(40)
    ]

    await steps.answer_global("What?", reports)

    assert chat.most == 32
