"""Whoever asks a model says beforehand how long its longest request will be."""

from __future__ import annotations

import pytest

from holodeck.lib.graphrag.prompted_answer import PromptedAnswerSteps
from holodeck.lib.graphrag.prompted_index import PromptedIndexSteps
from holodeck.lib.graphrag.prompts import INDEX_PROMPTS, SEARCH_PROMPTS
from holodeck.models.llm import ModelSettings
from holodeck.testing import ScriptedChat

pytestmark = pytest.mark.unit

TEN_WORDS = "one two three four five six seven eight nine ten"  # as many tokens


class Listening(ScriptedChat):
    """Notes what it is told to expect."""

    def __init__(self) -> None:
        super().__init__([])
        self.told: list[tuple[int, int | None]] = []

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:
        self.told.append((prompt_tokens, answer_tokens))


@pytest.mark.parametrize(
    ("chunk", "gleanings", "most"), [(300, 1, None), (2000, 5, None), (2000, 5, 4000)]
)
def test_a_build_expects_its_longest_request(chunk: int, gleanings: int, most: int | None) -> None:
    """The longer of a report's 8,000 tokens and of a chunk with the replies of all passes."""
    chat = Listening()
    PromptedIndexSteps(
        chat=chat,
        settings=ModelSettings(max_tokens=most),
        prompts=dict.fromkeys(INDEX_PROMPTS, f"{TEN_WORDS} {{input_text}}"),
        entity_types=("person",),
        max_gleanings=gleanings,
        chunk_tokens=chunk,
        memo=None,
    )
    ((prompt, answer),) = chat.told
    longest = max(8000, chunk + gleanings * (most or 2048))

    assert answer == most
    assert longest < prompt < longest + 500


def test_a_search_expects_its_longest_request() -> None:
    """12,000 tokens of records, the prompt around them and a question."""
    chat = Listening()
    PromptedAnswerSteps(
        chat=chat,
        settings=ModelSettings(max_tokens=900),
        prompts=dict.fromkeys(SEARCH_PROMPTS, TEN_WORDS),
        response_type="a line",
    )
    ((prompt, answer),) = chat.told

    assert answer == 900
    assert 12_000 < prompt < 13_000
