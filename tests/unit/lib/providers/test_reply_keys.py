"""Keys of kept replies."""

from __future__ import annotations

import dataclasses

import pytest

from holodeck.lib.contracts import ChatRequest, Message, Tool, ToolCall
from holodeck.lib.providers.reply_keys import reply_key, vector_key

_REQUEST = ChatRequest(messages=(Message(role="user", content="Who runs Orion?"),))
_CALL = ToolCall(id="1", name="search", arguments="{}")

_SHAPING = [
    dataclasses.replace(_REQUEST, messages=(Message(role="system", content="Who runs Orion?"),)),
    dataclasses.replace(_REQUEST, messages=(*_REQUEST.messages, *_REQUEST.messages)),
    dataclasses.replace(
        _REQUEST, messages=(Message(role="user", content="Who runs Orion?", tool_calls=(_CALL,)),)
    ),
    dataclasses.replace(
        _REQUEST, messages=(Message(role="user", content="Who runs Orion?", tool_call_id="1"),)
    ),
    dataclasses.replace(_REQUEST, temperature=0.0),
    dataclasses.replace(_REQUEST, temperature=0.1),
    dataclasses.replace(_REQUEST, max_tokens=9),
    dataclasses.replace(_REQUEST, json=True),
    dataclasses.replace(_REQUEST, tools=(Tool(name="t", description="", parameters={}),)),
]


def test_everything_that_shapes_a_reply_shapes_its_key() -> None:
    """Provider, model, messages and every parameter give keys of their own."""
    keys = {reply_key("openai", "m", request) for request in [_REQUEST, *_SHAPING]}
    keys |= {reply_key("openai", "n", _REQUEST), reply_key("ollama", "m", _REQUEST)}

    assert len(keys) == len(_SHAPING) + 3


def test_what_is_not_sent_does_not() -> None:
    """The purpose is ours alone, and 0 is 0.0."""
    key = reply_key("openai", "m", dataclasses.replace(_REQUEST, temperature=0.0))

    same = dataclasses.replace(_REQUEST, purpose="extract", temperature=0)
    assert reply_key("openai", "m", same) == key


def test_keys_are_stable() -> None:
    """A key that changed would make users pay again: this one is of the first release."""
    assert (
        reply_key("openai", "m", _REQUEST)
        == "20c088fb2b0c9be8d043f5c6c63b2693ac485d16a2388e8f9078032626b85deb"
    )


@pytest.mark.parametrize("text", ["Ann", "", "日本", "\ud800"])
def test_vectors_have_keys_by_model_width_and_text(text: str) -> None:
    """Any text has a key; another model or width is another vector."""
    keys = {
        vector_key("openai", "m", None, text),
        vector_key("openai", "m", 256, text),
        vector_key("openai", "n", None, text),
        vector_key("openai", "m", None, text + "."),
    }

    assert len(keys) == 4
