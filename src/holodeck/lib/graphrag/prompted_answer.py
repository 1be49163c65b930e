"""Answers, asked of a language model with the library's search prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holodeck.lib.contracts import Answer, AnswerContext, ChatModel, ContextReport, Rating
from holodeck.lib.graphrag.asking import Asker
from holodeck.lib.graphrag.map_reduce import NOTHING_RELEVANT, MapReduce
from holodeck.lib.graphrag.rate_reports import RATE_PROMPT, rate_reports
from holodeck.lib.graphrag.values import LOCAL, MAP, REDUCE
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings

__all__ = ["NOTHING_RELEVANT", "PromptedAnswerSteps"]

QUESTION_TOKENS = 500
"""Of a long question, which is asked together with its records."""


class PromptedAnswerSteps:
    """``AnswerSteps``, ``RatingSteps`` and ``WindowedSteps`` over a chat model.

    Args:
        chat: The search model.
        settings: Its temperature, greatest reply and window.
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
        self._asker = Asker(chat, settings, {**prompts, "rate": RATE_PROMPT})
        self._response_type = response_type
        chat.expect(_longest_prompt(prompts), settings.max_tokens)

    def context_room(self, question: str, most: int) -> int:
        """Return the tokens of context, at most ``most``, that a local answer is made from."""
        return self._asker.room("local", question, LOCAL_WORDS, most)

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        """Answer from the context with one call.

        Raises:
            ContextLengthError: It is longer than the model takes.
        """
        found = {"context_data": context.text}
        form = self._response_type
        said = await self._asker.answer("local", question, found, response_type=form)
        return Answer(text=said.text, notes=said.notes)

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        """Map over batches of reports, then reduce their points to one answer.

        Raises:
            SearchError: No batch could be read; "nothing relevant" is an answer, this is not.
        """
        return await MapReduce(self._asker, question, self._response_type).answer(reports)

    async def rate_reports(
        self, question: str, reports: Sequence[ContextReport]
    ) -> Sequence[Rating]:
        """Return how much each report helps to answer.

        Raises:
            SearchError: None of the first could be rated.
        """
        return await rate_reports(self._asker, question, reports)


LOCAL_WORDS = 750
"""Of a local answer in a small window."""


def _longest_prompt(prompts: Mapping[str, str]) -> int:
    """Return about how many tokens the longest request of an answer has."""
    records = {
        "local": LOCAL.context_tokens,
        "map": MAP.data_tokens,
        "reduce": REDUCE.data_tokens,
    }
    return QUESTION_TOKENS + max(
        count_tokens(prompts.get(name, "")) + tokens for name, tokens in records.items()
    )
