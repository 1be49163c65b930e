"""The loopback model's server, asked over HTTP as any client would ask."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import holodeck
from holodeck.lib.contracts import ToolCall
from holodeck.testing import Fault, ModelServer, Reply, prompt_hash
from holodeck.testing.words import word_vector


def _post(server: ModelServer, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    return httpx.post(f"{server.root}{path}", json=body, headers=headers, trust_env=False)


def _chat(server: ModelServer, text: str, **more: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return _post(server, "/v1/chat/completions", body)


def _said(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_the_newest_fitting_rule_answers(model_server: ModelServer) -> None:
    """A rule added later goes first; one that does not fit leaves the request to the others."""
    model_server.reply("chat", "old")
    model_server.reply("chat", lambda request: request.text.upper(), containing="ann")

    assert _said(_chat(model_server, "ann")) == "ANN"
    assert _said(_chat(model_server, "bob")) == "old"


@pytest.mark.parametrize(
    "path",
    [
        "/chat/completions",
        "/v1/chat/completions",
        "/openai/v1/chat/completions",
        "/openai/deployments/m/chat/completions?api-version=2024-10-21",
        "/api/chat",
    ],
)
def test_the_known_addresses_answer(model_server: ModelServer, path: str) -> None:
    """Chat is served as OpenAI, as Azure at a deployment's address, and as Ollama."""
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    assert _post(model_server, path, body).status_code == 200


@pytest.mark.parametrize("path", ["/v1/v1/chat/completions", "/chat", "/api/v1/embeddings"])
def test_a_doubled_or_wrong_suffix_is_not_found(model_server: ModelServer, path: str) -> None:
    """No other address is served."""
    assert _post(model_server, path, {"model": "m", "messages": []}).status_code == 404


def test_usage_is_counted_by_kind(model_server: ModelServer) -> None:
    """Tokens of the reply are those it names; counts are kept by kind and in total."""
    model_server.reply("chat", Reply(text="yes", prompt_tokens=7, completion_tokens=2))

    usage = _chat(model_server, "hi").json()["usage"]

    assert usage == {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    counts = model_server.counts
    assert (counts["chat"].calls, counts["chat"].prompt_tokens, counts.total.calls) == (1, 7, 1)
    assert counts["extract"].calls == 0


def test_a_stream_ends_with_its_usage(model_server: ModelServer) -> None:
    """The pieces make up the text; usage comes as an event of its own when asked for."""
    text = "Ann runs Orion, and Orion makes bread."
    model_server.reply("chat", text)

    response = _chat(model_server, "hi", stream=True, stream_options={"include_usage": True})

    *lines, done = [line for line in response.text.split("\n\n") if line]
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == text
    assert events[-1]["usage"]["completion_tokens"] == len(text) // 4
    assert done == "data: [DONE]"


def test_tool_calls_are_sent(model_server: ModelServer) -> None:
    """A reply with tool calls finishes for that reason."""
    call = ToolCall(id="c1", name="search", arguments='{"q": "Orion"}')
    model_server.reply("chat", Reply(text=None, tool_calls=(call,)))

    choice = _chat(model_server, "hi").json()["choices"][0]

    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    function = choice["message"]["tool_calls"][0]["function"]
    assert function == {"name": "search", "arguments": '{"q": "Orion"}'}


def test_embeddings_come_as_asked(model_server: ModelServer) -> None:
    """Width and encoding are the request's; the default vectors are those of the words."""
    asked = {"model": "e", "input": ["Ann", "Bob"], "dimensions": 8}

    floats = _post(model_server, "/v1/embeddings", asked).json()
    packed = _post(model_server, "/v1/embeddings", {**asked, "encoding_format": "base64"}).json()

    assert [row["embedding"] for row in floats["data"]] == [
        word_vector("Ann", 8),
        word_vector("Bob", 8),
    ]
    unpacked = array("f", base64.b64decode(packed["data"][1]["embedding"]))
    assert list(unpacked) == word_vector("Bob", 8)


def test_the_vendor_refuses_what_the_vendor_refuses(model_server: ModelServer) -> None:
    """Empty texts, the old token limit on a reasoning model and JSON unasked for are errors."""
    empty = _post(model_server, "/v1/embeddings", {"model": "e", "input": ["a", ""]})
    limit = _chat(model_server, "hi", model="o3-mini", max_tokens=5)
    unasked = _chat(model_server, "hi", response_format={"type": "json_object"})

    assert [response.status_code for response in (empty, limit, unasked)] == [400, 400, 400]
    assert limit.json()["error"]["code"] == "unsupported_parameter"


def test_another_key_is_refused() -> None:
    """With a required key, a request with another one gets 401."""
    with ModelServer(api_key="right") as server:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        path = "/v1/chat/completions"

        assert _post(server, path, body, Authorization="Bearer wrong").status_code == 401
        assert _post(server, path, body, Authorization="Bearer right").status_code == 200
        assert server.requests[0].headers["authorization"] == "Bearer wrong"


def test_only_served_models_answer() -> None:
    """A model that is not on the list is 404; the list can be read."""
    with ModelServer(models=["m"]) as server:
        listed = httpx.get(f"{server.url}/models", trust_env=False).json()

        assert [model["id"] for model in listed["data"]] == ["m"]
        assert _chat(server, "hi", model="n").json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Fault(status=401), 401, "invalid_api_key"),
        (Fault(status=404), 404, "model_not_found"),
        (Fault(status=429), 429, "rate_limit_exceeded"),
        (Fault(code="insufficient_quota"), 429, "insufficient_quota"),
        (Fault(code="content_filter"), 400, "content_filter"),
        (Fault(code="context_length_exceeded"), 400, "context_length_exceeded"),
        (Fault(status=500), 500, None),
        (Fault(status=503), 503, "overloaded"),
    ],
)
def test_errors_have_the_vendors_bodies(
    model_server: ModelServer, fault: Fault, status: int, code: str | None
) -> None:
    """Status and code go together; either names the other."""
    model_server.fault(fault)

    response = _chat(model_server, "hi")

    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


def test_the_wait_is_told_in_three_ways(model_server: ModelServer) -> None:
    """A wait is told in seconds, as a moment or in milliseconds."""
    moment = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    for fault in (
        Fault(status=429, retry_after=2, containing="seconds"),
        Fault(status=429, retry_after=moment, containing="moment"),
        Fault(status=429, retry_after_ms=1500, containing="millis"),
    ):
        model_server.fault(fault)

    headers = [_chat(model_server, text).headers for text in ("seconds", "moment", "millis")]

    assert headers[0]["retry-after"] == "2"
    assert headers[1]["retry-after"] == "Wed, 02 Jan 2030 03:04:05 GMT"
    assert headers[2]["retry-after-ms"] == "1500"


def test_a_fault_strikes_its_turns_only(model_server: ModelServer) -> None:
    """``first`` strikes the first ones, ``every`` each n-th, of the requests that match."""
    model_server.fault(Fault(status=500, first=1, containing="a"))
    model_server.fault(Fault(status=503, every=2, kind="chat"))

    statuses = [_chat(model_server, text).status_code for text in ("b", "a", "a", "b", "b")]

    assert statuses == [200, 500, 200, 503, 200]


def test_replies_are_spoiled(model_server: ModelServer) -> None:
    """A reply can be cut in half, fenced or emptied."""
    model_server.reply("chat", "abcdef")
    model_server.fault(Fault(malformed=True, containing="half"))
    model_server.fault(Fault(fenced=True, containing="fence"))
    model_server.fault(Fault(empty=True, containing="empty"))

    replies = [_said(_chat(model_server, text)) for text in ("half", "fence", "empty", "fine")]

    assert replies == ["abc", "```json\nabcdef\n```", "", "abcdef"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_reply_is_a_broken_connection(model_server: ModelServer, stream: bool) -> None:
    """The client sees that the reply is not whole."""
    model_server.fault(Fault(cut_stream=True))

    with pytest.raises(httpx.RemoteProtocolError):
        _chat(model_server, "hi", stream=stream)


def test_recordings_answer_what_they_know(model_server: ModelServer) -> None:
    """A recording is found by the hash of its conversation, else by a substring, else not."""
    messages = [{"role": "user", "content": "Who runs Orion?"}]
    model_server.replay({prompt_hash(messages): "Ann.", "Vega": "Bob."})

    assert _said(_chat(model_server, "Who runs Orion?")) == "Ann."
    assert _said(_chat(model_server, "And who runs Vega?")) == "Bob."
    assert _said(_chat(model_server, "hi")) == "ok"
    vectors = _post(model_server, "/v1/embeddings", {"model": "e", "input": "Vega"})
    assert len(vectors.json()["data"][0]["embedding"]) == 256


def test_a_list_that_ran_out_is_an_error(model_server: ModelServer) -> None:
    """One request too many is answered with an error that says so, and is not worth a retry."""
    model_server.replay(["one"], kind="chat")

    assert _said(_chat(model_server, "hi")) == "one"
    response = _chat(model_server, "hi")
    assert response.status_code == 400
    assert "one more was asked for" in response.json()["error"]["message"]


def test_a_failing_rule_tells_its_client(model_server: ModelServer) -> None:
    """An error in a test's own function reaches the client as an error, with its text."""
    model_server.reply("chat", lambda request: str(1 // 0))

    assert "ZeroDivisionError" in _chat(model_server, "hi").json()["error"]["message"]


def test_a_paused_server_takes_in_and_answers_later(model_server: ModelServer) -> None:
    """While it is paused requests wait; ``wait_for`` tells when they have arrived, or did not."""
    model_server.pause()
    with ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(_chat, model_server, "hi") for _ in range(3)]
        model_server.wait_for(3, "chat")
        assert model_server.counts["chat"].in_flight == 3
        model_server.resume()

        assert [each.result().status_code for each in waiting] == [200, 200, 200]
    with pytest.raises(TimeoutError, match="3 of 4 requests"):
        model_server.wait_for(4, timeout=0.01)


def test_a_server_starts_and_stops_at_once() -> None:
    """Starting takes well under a second, stopping does not wait for a hanging answer."""
    begun = time.monotonic()
    with ModelServer(faults=[Fault(hang=30)]) as server, pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{server.url}/chat/completions", json={"model": "m"}, timeout=0.05, trust_env=False
        )

    assert time.monotonic() - begun < 15


async def test_it_serves_from_async_tests() -> None:
    """``async with`` is the same."""
    async with ModelServer() as server, httpx.AsyncClient(trust_env=False) as client:
        response = await client.get(f"{server.url}/models")

    assert response.json() == {"object": "list", "data": []}


def test_the_command_prints_its_url() -> None:
    """``python -m holodeck.testing.server`` prints where it listens and stays."""
    command = [sys.executable, "-m", "holodeck.testing.server"]
    found = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=found) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            assert httpx.get(f"{url}/models", trust_env=False).status_code == 200
        finally:
            process.terminate()
