"""Answers asked of a language model."""

from __future__ import annotations

import json

import pytest

from holodeck.errors import ContextLengthError, SearchError
from holodeck.lib.contracts import AnswerContext, ChatRequest, ContextReport
from holodeck.lib.graphrag.prompted_answer import NOTHING_RELEVANT, PromptedAnswerSteps
from holodeck.models.llm import ModelSettings
from holodeck.testing import ScriptedChat

pytestmark = pytest.mark.unit

PROMPTS = {
    "local": "{context_data} | {response_type}",
    "map": "{context_data} {max_length}",
    "reduce": "{report_data} | {response_type} | {max_length}",
}


def answers(chat: ScriptedChat) -> PromptedAnswerSteps:
    return PromptedAnswerSteps(
        chat=chat,
        settings=ModelSettings(temperature=None, max_tokens=7),
        prompts=PROMPTS,
        response_type="one line, in Chinese",
    )


def report(number: int, tokens: int = 1) -> ContextReport:
    return ContextReport(number=number, title=f"T{number}", content="word " * tokens, rank=5)


def points(*pairs: tuple[str, int]) -> str:
    return json.dumps({"points": [{"description": text, "score": score} for text, score in pairs]})


async def test_a_local_answer_is_one_call_with_context_and_form() -> None:
    """The context and the wanted form and language reach the model."""
    chat = ScriptedChat(["好"])
    answer = await answers(chat).answer_local("谁?", AnswerContext(text="{context}"))

    assert answer.text == "好"
    assert [m.content for m in chat.requests[0].messages] == [
        "{context} | one line, in Chinese",
        "谁?",
    ]
    assert chat.requests[0].max_tokens == 7


async def test_points_are_reduced_best_first() -> None:
    """Points of all batches reach the last prompt in order of importance; zero is left out."""
    chat = ScriptedChat([points(("minor", 10), ("none", 0), ("major", 90)), "done"])
    answer = await answers(chat).answer_global("?", [report(1)])

    reduce_prompt = chat.requests[1].messages[0].content
    assert answer.text == "done"
    assert reduce_prompt.index("major") < reduce_prompt.index("minor")
    assert "none" not in reduce_prompt


async def test_reports_are_read_in_batches_that_fit() -> None:
    """More reports than one prompt holds make more map calls, and one reduce call."""

    def script(request: ChatRequest) -> str:
        return points(("p", 5)) if request.purpose == "map" else "done"

    chat = ScriptedChat(script)
    await answers(chat).answer_global("?", [report(n, tokens=5000) for n in range(5)])

    assert [r.purpose for r in chat.requests] == ["map"] * 3 + ["reduce"]


async def test_nothing_relevant_is_a_plain_answer() -> None:
    """All points of score zero: no reduce call, and a sentence that says so."""
    chat = ScriptedChat([points(("I don't know", 0))])
    answer = await answers(chat).answer_global("?", [report(1)])

    assert answer.text == NOTHING_RELEVANT
    assert answer.notes == ()


async def test_all_batches_broken_is_an_error() -> None:
    """Unreadable replies to every batch, asked for twice, never look like "nothing relevant"."""
    chat = ScriptedChat(["I am sorry", "I am sorry"])
    with pytest.raises(SearchError, match="all 1 batch"):
        await answers(chat).answer_global("?", [report(1)])


@pytest.mark.parametrize("score", ["NaN", "Infinity", '"high"', "null", "[1]"])
async def test_a_point_without_a_score_is_none(score: str) -> None:
    """A reply of which no point can be read counts as broken, whatever stands for the score."""
    reply = f'{{"points": [{{"description": "x", "score": {score}}}]}}'
    with pytest.raises(SearchError, match="all 1 batch"):
        await answers(ScriptedChat([reply] * 2)).answer_global("?", [report(1)])


async def test_a_score_in_quotes_is_a_score() -> None:
    """A number is a number, however the model writes it."""
    chat = ScriptedChat(['{"points": [{"description": "x", "score": "80"}]}', "done"])

    assert (await answers(chat).answer_global("?", [report(1)])).text == "done"


async def test_some_batches_broken_is_noted() -> None:
    """The answer says how many batches it is missing."""

    def script(request: ChatRequest) -> str:
        if request.purpose == "reduce":
            return "done"
        return points(("p", 5)) if "T2" in request.messages[0].content else "sorry"

    chat = ScriptedChat(script)
    answer = await answers(chat).answer_global("?", [report(1, 9000), report(2, 9000)])

    assert answer.text == "done"
    assert answer.notes == ("1 of 2 batches of reports could not be read",)


async def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    """A second, readable reply counts like a first one."""
    chat = ScriptedChat(["sorry", points(("p", 5)), "done"])
    answer = await answers(chat).answer_global("?", [report(1)])

    assert (answer.text, answer.notes) == ("done", ())


async def test_a_batch_that_is_too_long_for_the_model_is_divided() -> None:
    """Half and half again, until it fits; a single report that never fits is counted as lost."""

    def script(request: ChatRequest) -> str:
        prompt = request.messages[0].content
        if request.purpose == "reduce":
            return "done"
        if prompt.count("|T") > 1 or "|T3|" in prompt:
            raise ContextLengthError("too long")
        return points(("p", 5))

    chat = ScriptedChat(script)
    answer = await answers(chat).answer_global("?", [report(n) for n in range(4)])

    assert answer.text == "done"
    assert answer.notes == ("1 of 4 batches of reports could not be read",)
