"""What every provider of models owes, as a suite that one more provider inherits.

    class TestMyProvider(ProviderContract):
        provider = "my_provider"

        @classmethod
        def asks_for_json(cls, body):
            return body["format"] == "json"

It runs against ``ModelServer``, which speaks the wire formats of OpenAI, Azure and Ollama.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from holodeck.errors import ProviderError
from holodeck.lib.contracts import ChatRequest, Message, Tool, ToolCall
from holodeck.lib.providers.access import ModelAccess
from holodeck.testing.faults import Fault
from holodeck.testing.provider_base import ask
from holodeck.testing.provider_failures import ProviderFailureContract
from holodeck.testing.replies import Reply
from holodeck.testing.server import ModelServer
from holodeck.testing.words import word_vector

__all__ = ["ProviderContract"]


class ProviderContract(ProviderFailureContract):
    """Chat, streams, tools, JSON mode, vectors; and everything that can go wrong."""

    # --- chat -----------------------------------------------------------------------------------

    async def test_a_reply_comes_with_its_usage(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """Text, finish reason and tokens are the server's; the model asked is the one named."""
        server.reply("chat", Reply(text="Ann.", prompt_tokens=7, completion_tokens=2))

        reply = await self.answer(access, ask("Who?"))

        assert (reply.text, reply.finish_reason) == ("Ann.", "stop")
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (7, 2)
        (request,) = [one for one in server.requests if one.kind == "chat"]
        assert (request.model, request.user_texts) == ("m", ("Who?",))

    async def test_a_whole_conversation_is_sent(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """Roles and contents arrive in their order, in every script."""
        turns = (("system", "Cite."), ("user", "谁？"), ("assistant", "Ann — ❄"), ("user", "Why?"))
        messages = tuple(Message(role=role, content=text) for role, text in turns)  # type: ignore[arg-type]  # roles

        await self.answer(access, ChatRequest(messages=messages))

        (request,) = [one for one in server.requests if one.is_chat]
        sent = [(turn["role"], turn["content"]) for turn in request.body["messages"]]
        assert sent == list(turns)

    async def test_a_stream_is_the_reply_in_pieces(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """The pieces make up the text of the last one's reply, which has the usage."""
        text = "Ann runs Orion, and Orion makes bread in Oslo."
        server.reply("chat", Reply(text=text, prompt_tokens=7, completion_tokens=9))

        async with self.chat(access) as model:
            deltas = [delta async for delta in model.stream(ask())]

        assert "".join(delta.text for delta in deltas) == text
        assert len(deltas) > 2
        last = deltas[-1].reply
        assert last is not None
        assert (last.text, last.usage.input_tokens, last.usage.output_tokens) == (text, 7, 9)

    async def test_a_stream_that_breaks_off_is_an_error(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """Half an answer is no answer."""
        server.reply("chat", "Ann runs Orion, and Orion makes bread in Oslo.")
        server.fault(Fault(kind="chat", cut_stream=True))

        async with self.chat(access) as model:
            with pytest.raises(ProviderError) as caught:
                [delta async for delta in model.stream(ask())]

        assert caught.value.retryable
        assert "cannot be reached" not in str(caught.value)

    async def test_a_page_in_place_of_a_stream_is_told_as_such(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """A wrong address is no passing failure."""
        server.fault(Fault(kind="chat", not_json=True))

        async with self.chat(access) as model:
            with pytest.raises(ProviderError, match="check the URL") as caught:
                [delta async for delta in model.stream(ask())]

        assert not caught.value.retryable

    @pytest.mark.parametrize("streamed", [False, True])
    async def test_a_tool_is_offered_called_and_answered(
        self, server: ModelServer, access: ModelAccess, streamed: bool
    ) -> None:
        """The call's name and arguments come back, and its result reaches the model."""
        self.needs("calls_tools")
        call = ToolCall(id="c1", name="look_up", arguments='{"city": "Oslo"}')
        server.reply("chat", Reply(text=None, tool_calls=(call,)))
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        tool = Tool(name="look_up", description="Looks a city up", parameters=schema)
        asked = ask("Where?", tools=(tool,))

        async with self.chat(access) as model:
            if streamed:
                *_, last = [delta async for delta in model.stream(asked)]
                reply = last.reply
            else:
                reply = await model.complete(asked)
            assert reply is not None
            (made,) = reply.tool_calls
            said = Message(role="assistant", content="", tool_calls=reply.tool_calls)
            result = Message(role="tool", content="It is cold.", tool_call_id=made.id)
            server.reply("chat", "Cold.")
            await model.complete(ChatRequest(messages=(*asked.messages, said, result)))

        assert (made.name, json.loads(made.arguments)) == ("look_up", {"city": "Oslo"})
        assert made.id
        assert reply.finish_reason == "tool_calls"
        first, second = [request for request in server.requests if request.is_chat]
        assert first.body["tools"][0]["function"]["parameters"] == schema
        turns = second.body["messages"]
        assert turns[1]["tool_calls"][0]["function"]["name"] == "look_up"
        assert (turns[2]["role"], turns[2]["content"]) == ("tool", "It is cold.")

    async def test_json_is_asked_for_when_wanted(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """JSON mode is set on the wire for a request that needs it, and only then."""
        self.needs("has_json_mode")
        async with self.chat(access) as model:
            await model.complete(ask("Answer in JSON.", json=True))
            await model.complete(ask("Answer."))

        bodies = [request.body for request in server.requests if request.is_chat]
        assert [self.asks_for_json(body) for body in bodies] == [True, False]

    # --- vectors --------------------------------------------------------------------------------

    async def test_rows_come_in_order_and_have_length_one(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """Row *i* is the vector of text *i*, scaled; an empty text has a row too."""
        texts = ["red apple", "", "green pear", "red apple"]
        server.reply(
            "embedding", lambda request: [[3.0, 4.0 * len(text)] for text in request.texts]
        )

        async with self.embedder(access) as model:
            rows = await model.embed(texts)

        assert rows.shape == (4, 2)
        assert [round(float(row @ row), 4) for row in rows] == [1.0] * 4
        assert (rows[0] == rows[3]).all()
        assert round(float(rows[2][1] / rows[2][0]), 3) == round(4.0 * len("green pear") / 3.0, 3)

    async def test_many_texts_are_sent_in_batches(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """No request holds more than 256 texts, and the rows are those of all, in order."""
        texts = [f"text {number}" for number in range(600)]

        async with self.embedder(access) as model:
            rows = await model.embed(texts)

        sizes = [len(one.texts) for one in server.requests if one.is_embedding]
        assert sizes == [256, 256, 88]
        expected = word_vector("text 599", 256)
        length = sum(number * number for number in expected) ** 0.5
        assert [round(float(x), 4) for x in rows[599]] == [round(x / length, 4) for x in expected]

    async def test_no_texts_are_no_call(self, server: ModelServer, access: ModelAccess) -> None:
        """Nothing is asked for nothing."""
        async with self.embedder(access) as model:
            assert len(await model.embed([])) == 0

        assert server.requests == []

    async def test_a_width_can_be_asked_for_and_is_due(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """``dimensions`` is sent; a server that ignores it is found out."""
        async with self.embedder(access, dimensions=8) as model:
            assert (await model.embed(["a"])).shape == (1, 8)
            server.reply("embedding", lambda request: [[1.0, 2.0]])
            with pytest.raises(ProviderError, match="2 numbers, and 8 are due"):
                await model.embed(["a"])

    async def test_widths_that_differ_name_the_text(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """Within one call and from call to call; asking again would not help."""
        server.reply("embedding", lambda request: _growing(request.texts))

        async with self.embedder(access) as model:
            with pytest.raises(ProviderError, match=r"text 2 of 2 \('Bob'\)") as within:
                await model.embed(["Ann", "Bob"])
            await model.embed(["Ann"])
            server.reply("embedding", lambda request: [[1.0, 2.0, 3.0] for _ in request.texts])
            with pytest.raises(ProviderError, match=r"text 1 of 1 \('Cara'\)"):
                await model.embed(["Cara"])

        assert not within.value.retryable

    # --- many at once -----------------------------------------------------------------------------

    async def test_calls_run_at_once(self, server: ModelServer, access: ModelAccess) -> None:
        """A model has no queue of its own: as many calls are in flight as are made."""
        async with self.chat(access) as model:
            await model.complete(ask())  # what is asked once about the model is asked
            server.pause()
            calls = [asyncio.create_task(model.complete(ask(str(n)))) for n in range(10)]
            await asyncio.to_thread(server.wait_for, 11, "chat")
            server.resume()
            await asyncio.gather(*calls)

        assert server.counts["chat"].in_flight_max == 10

    async def test_a_cancelled_call_leaves_the_model_usable(
        self, server: ModelServer, access: ModelAccess
    ) -> None:
        """Giving one call up neither waits for it nor harms the next."""
        async with self.chat(access) as model:
            await model.complete(ask())
            server.pause()
            call = asyncio.create_task(model.complete(ask("slow")))
            await asyncio.to_thread(server.wait_for, 2, "chat")
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            server.resume()

            assert (await model.complete(ask("next"))).text == "ok"


def _growing(texts: tuple[str, ...]) -> list[list[float]]:
    return [[1.0] * (2 + number) for number, _ in enumerate(texts)]
