"""Agents whose model chooses the tools, against a server that speaks the vendor's format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

import pytest

from holodeck.config.loader import LoadedAgent
from holodeck.errors import (
    ContentFilterError,
    EmptyQueryError,
    NotInitializedError,
    ProviderError,
    RateLimitError,
)
from holodeck.lib.contracts import ToolCall
from holodeck.lib.spending import total
from holodeck.lib.test_runner.agent_factory import Agent, create_agent
from holodeck.lib.test_runner.turns import (
    TextPiece,
    ToolAnswered,
    ToolCalled,
    TurnDone,
    turn_as_json,
)
from holodeck.testing import Fault, ModelServer, Reply


def call(name: str, *, call_id: str = "c1", **arguments: object) -> Reply:
    """Return a reply that calls a tool."""
    return Reply(
        text="", tool_calls=(ToolCall(id=call_id, name=name, arguments=json.dumps(arguments)),)
    )


@pytest.fixture
async def agent(write_agent: Callable[..., LoadedAgent]) -> AsyncIterator[Agent]:
    """An agent with an index that is not built yet, and a function."""
    made = create_agent(write_agent())
    yield made
    await made.close()


async def test_an_answer_is_made_from_what_a_tool_found(agent: Agent, server: ModelServer) -> None:
    """The model sees the tool's text, and the turn says which places it stands on."""
    await agent.initialize()
    server.replay([call("knowledge", query="Who runs Orion?"), "Ann Lee runs it."], "chat")
    turn = await agent.conversation().ask("Who runs the Orion project?")
    assert turn.text == "Ann Lee runs it."
    [use] = turn.tool_uses
    assert (use.name, use.arguments, use.failed) == (
        "knowledge",
        {"query": "Who runs Orion?"},
        False,
    )
    assert "ann.txt" in {source.path for source in turn.sources}
    assert "Ann Lee runs the Orion project" in turn.context
    sent = server.requests[-1].body["messages"]
    assert sent[-1]["role"] == "tool"
    assert "Ann Lee runs the Orion project" in sent[-1]["content"]
    assert total(turn.spent).calls == 2


async def test_tools_are_offered_by_their_names_in_yaml(agent: Agent, server: ModelServer) -> None:
    """Name, description and schema on the wire are those of the file and of the function."""
    server.reply("chat", "Hello.")
    await agent.conversation().ask("Hello?")
    tools = {
        tool["function"]["name"]: tool["function"] for tool in server.requests[-1].body["tools"]
    }
    assert set(tools) == {"knowledge", "add"}
    assert tools["knowledge"]["description"] == "Who runs which project"
    assert tools["knowledge"]["parameters"]["required"] == ["query"]
    assert tools["add"]["description"] == "Add two whole numbers."
    assert tools["add"]["parameters"]["properties"]["first"] == {"type": "integer"}


async def test_events_come_in_the_order_of_what_happens(agent: Agent, server: ModelServer) -> None:
    """A call, its answer, the pieces of the text, the end."""
    server.replay([call("add", first=2, second=3), "It is five."], "chat")
    events = [event async for event in agent.conversation().stream("2 + 3?")]
    kinds = [type(event) for event in events]
    assert kinds[:2] == [ToolCalled, ToolAnswered]
    assert set(kinds[2:-1]) == {TextPiece}
    assert kinds[-1] is TurnDone
    assert "".join(event.text for event in events if isinstance(event, TextPiece)) == "It is five."
    assert isinstance(events[1], ToolAnswered)
    assert events[1].use.text == "5"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (call("knowledge", question="?"), "query"),
        (call("add", first="two", second=3), "first"),
        (call("knowledge", query="Who?", mode="global"), "mode"),
        (Reply(tool_calls=(ToolCall(id="c1", name="add", arguments="{broken"),)), "JSON"),
        (call("delete_everything"), "delete_everything"),
    ],
    ids=["other argument", "wrong type", "mode it has not", "no JSON", "no such tool"],
)
async def test_a_wrong_call_is_answered_with_what_is_wrong(
    agent: Agent, server: ModelServer, reply: Reply, told: str
) -> None:
    """The model can mend its call; the turn records the failure and goes on."""
    server.replay([reply, "Sorry."], "chat")
    turn = await agent.conversation().ask("Go.")
    assert turn.text == "Sorry."
    [use] = turn.tool_uses
    assert use.failed
    assert told in server.requests[-1].body["messages"][-1]["content"]


@pytest.mark.parametrize("call_id", ["c1", ""], ids=["twice", "none"])
async def test_calls_without_an_id_of_their_own_get_one(
    agent: Agent, server: ModelServer, call_id: str
) -> None:
    """Two calls in one reply, and again in the next; every answer goes back to its call."""
    both = Reply(
        tool_calls=tuple(
            ToolCall(id=call_id, name="add", arguments=json.dumps({"first": n, "second": 0}))
            for n in (1, 2)
        )
    )
    server.replay([both, call("add", call_id=call_id, first=3, second=0), "Done."], "chat")
    turn = await agent.conversation().ask("Go.")
    assert [use.text for use in turn.tool_uses] == ["1", "2", "3"]
    said = server.requests[-1].body["messages"]
    asked = [each["id"] for m in said for each in m.get("tool_calls", ())]
    answered = {m["tool_call_id"]: m["content"] for m in said if m["role"] == "tool"}
    assert len(set(asked)) == 3
    assert [answered[each] for each in asked] == ["1", "2", "3"]


async def test_what_goes_back_to_a_server_is_always_an_object(
    agent: Agent, server: ModelServer
) -> None:
    """Arguments that were none are told to the model in words, and sent back as JSON."""
    for arguments in ("{broken", "[1]", "3"):
        odd = Reply(tool_calls=(ToolCall(id="c1", name="add", arguments=arguments),))
        server.replay([odd, "Sorry."], "chat")
        turn = await agent.conversation().ask("Go.")
        assert "give one JSON object" in turn.tool_uses[0].text
        (sent,) = server.requests[-1].body["messages"][-2]["tool_calls"]
        assert isinstance(json.loads(sent["function"]["arguments"]), dict)


async def test_a_turn_ends_at_its_limits(agent: Agent, server: ModelServer) -> None:
    """A model that never stops calling is stopped, and the turn says by which setting."""
    server.reply(
        "chat", lambda request: call("add", call_id=f"c{len(server.requests)}", first=1, second=1)
    )
    turn = await agent.conversation().ask("Loop.")
    assert turn.stopped is not None
    assert "execution.max_" in turn.stopped
    assert server.counts["chat"].calls <= 4


async def test_the_conversation_goes_on_from_what_was_said(
    agent: Agent, server: ModelServer
) -> None:
    """The second question is sent with the first and its answer; ``reset`` forgets both."""
    server.replay(["I am fine.", "You asked how I am.", "Nothing."], "chat")
    conversation = agent.conversation()
    await conversation.ask("How are you?")
    await conversation.ask("What did I ask?")
    said = [message["content"] for message in server.requests[-1].body["messages"][1:]]
    assert said == ["How are you?", "I am fine.", "What did I ask?"]
    conversation.reset()
    await conversation.ask("And now?")
    assert [message["content"] for message in server.requests[-1].body["messages"][1:]] == [
        "And now?"
    ]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(kind="chat", status=429), RateLimitError),
        (Fault(kind="chat", code="content_filter"), ContentFilterError),
        (Fault(kind="chat", empty=True), ProviderError),
        (Fault(kind="chat", cut_stream=True), ProviderError),
    ],
    ids=["rate limit", "refusal", "no answer", "cut"],
)
async def test_a_failed_turn_leaves_the_conversation_as_it_was(
    agent: Agent, server: ModelServer, fault: Fault, kind: type[ProviderError]
) -> None:
    """The error is the provider's own, and the next turn works on what was said before."""
    server.reply("chat", "Yes.")
    conversation = agent.conversation()
    await conversation.ask("First?")
    server.fault(fault)
    with pytest.raises(kind):
        await conversation.ask("Second?")
    server.heal()
    await conversation.ask("Third?")
    said = [message["content"] for message in server.requests[-1].body["messages"][1:]]
    assert said == ["First?", "Yes.", "Third?"]
    assert len(conversation.turns) == 2


async def test_a_cancelled_turn_leaves_the_conversation_usable(
    agent: Agent, server: ModelServer
) -> None:
    """Closing the stream in the middle cancels the turn and nothing else."""
    server.replay([call("add", first=1, second=1), "Two.", "Hello."], "chat")
    conversation = agent.conversation()
    stream = conversation.stream("1 + 1?")
    assert isinstance(await anext(stream), ToolCalled)
    await stream.aclose()
    assert conversation.turns == []
    server.reply("chat", "Hello.")
    assert (await conversation.ask("Hello?")).text == "Hello."


async def test_a_search_before_the_index_is_open_is_an_error(
    agent: Agent, server: ModelServer
) -> None:
    """It is the program's fault: no model is told, and the conversation is as it was."""
    server.replay([call("knowledge", query="Who?"), "I cannot look."], "chat")
    conversation = agent.conversation()
    with pytest.raises(NotInitializedError, match=r"call initialize\(\)"):
        await conversation.ask("Who?")
    assert server.counts["chat"].calls == 1
    assert conversation.turns == []


async def test_an_empty_question_is_refused(agent: Agent, server: ModelServer) -> None:
    """Blank input makes no call."""
    with pytest.raises(EmptyQueryError):
        await agent.conversation().ask(" \n")
    assert server.counts["chat"].calls == 0


def test_a_graph_tool_says_what_each_mode_is_for(
    write_agent: Callable[..., LoadedAgent],
) -> None:
    """The model chooses among the engine's modes by words; the default is named."""
    loaded = write_agent(
        'name: a\nmodel: {{provider: openai, name: any, api_base: "{url}", api_key: any}}\n'
        "tools: [{{name: k, engine: graphrag, source: docs}}]\n"
    )
    (tool,) = create_agent(loaded).tools
    mode = tool.parameters["properties"]["mode"]

    assert "local" in str(mode["anyOf"])
    assert "global" in str(mode["anyOf"])
    assert "default 'local'" in mode["description"]
    assert "themes" in mode["description"]


async def test_an_answer_that_breaks_off_is_noted(agent: Agent, server: ModelServer) -> None:
    """The turn shows what there is and says that it is not whole; the next one is its own."""
    server.replay([Reply(text="It begins but", finish_reason="length"), "Whole."], "chat")
    conversation = agent.conversation()
    cut, whole = [await conversation.ask(question) for question in ("Who?", "Who else?")]

    assert (cut.text, cut.stopped) == ("It begins but", None)
    assert [note.startswith("the answer breaks off") for note in cut.notes] == [True]
    assert turn_as_json(cut)["notes"] == list(cut.notes)
    assert whole.notes == ()
