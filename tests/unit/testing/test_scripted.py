"""A chat model that follows a script."""

from __future__ import annotations

import pytest

from holodeck.errors import ProviderError
from holodeck.lib.contracts import ChatRequest, Message
from holodeck.testing import ScriptedChat


def _request(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),))


async def test_a_list_answers_in_order() -> None:
    """Replies come in the order given, errors are raised, and one too many fails the test."""
    model = ScriptedChat(["one", ProviderError("down", retryable=True)])

    assert (await model.complete(_request("a"))).text == "one"
    with pytest.raises(ProviderError, match="down"):
        await model.complete(_request("b"))
    with pytest.raises(AssertionError, match="holds 2 replies"):
        await model.complete(_request("c"))
    assert [request.messages[0].content for request in model.requests] == ["a", "b", "c"]


async def test_a_function_answers_from_the_request() -> None:
    """A function sees the whole request; streaming gives the reply as one piece."""
    model = ScriptedChat(lambda request: request.messages[-1].content.upper())

    pieces = [delta.text async for delta in model.stream(_request("ann"))]

    assert pieces == ["ANN"]
