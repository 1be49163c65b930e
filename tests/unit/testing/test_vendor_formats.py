"""The loopback server says what Azure and Ollama say, where they say it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from holodeck.lib.contracts import ToolCall
from holodeck.testing import Fault, ModelServer, Reply

DEPLOYMENT = "/openai/deployments/my%20gpt/chat/completions"
MESSAGES = [{"role": "user", "content": "hi"}]


def post(server: ModelServer, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    """Send a body; underscores in the names of headers are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(f"{server.root}{path}", json=body, headers=named, trust_env=False)


# --- Azure ------------------------------------------------------------------------------------


def test_azure_takes_the_model_from_the_address(model_server: ModelServer) -> None:
    """The deployment is the model; the body need not name one."""
    answer = post(model_server, f"{DEPLOYMENT}?api-version=v", {"messages": MESSAGES})

    assert answer.status_code == 200
    assert model_server.requests[0].model == "my gpt"
    assert model_server.requests[0].query == {"api-version": "v"}


def test_azure_wants_a_version(model_server: ModelServer) -> None:
    """Without ``api-version`` there is no such resource, in Azure's words."""
    answer = post(model_server, DEPLOYMENT, {"messages": MESSAGES})

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "404"


def test_azure_looks_for_the_key_in_its_own_header() -> None:
    """A bearer's key is none there."""
    with ModelServer(api_key="k") as server:
        path, body = f"{DEPLOYMENT}?api-version=v", {"messages": MESSAGES}
        bearer = post(server, path, body, authorization="Bearer k")
        own = post(server, path, body, api_key="k")

    assert (bearer.status_code, own.status_code) == (401, 200)
    assert "invalid subscription key" in bearer.json()["error"]["message"]


def test_azure_does_not_know_a_deployment() -> None:
    """The error has Azure's code."""
    with ModelServer(models=["other"]) as server:
        answer = post(server, f"{DEPLOYMENT}?api-version=v", {"messages": MESSAGES})

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "DeploymentNotFound")


# --- Ollama -----------------------------------------------------------------------------------


def test_ollama_streams_lines_unless_told_otherwise(model_server: ModelServer) -> None:
    """Each line is JSON; the last one is done and has the counts."""
    model_server.reply("chat", Reply(text="Ann runs Orion in Oslo.", prompt_tokens=7))
    answer = post(model_server, "/api/chat", {"model": "m", "messages": MESSAGES})
    whole = post(model_server, "/api/chat", {"model": "m", "messages": MESSAGES, "stream": False})

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert "".join(line["message"]["content"] for line in lines) == "Ann runs Orion in Oslo."
    assert [line["done"] for line in lines] == [False, False, True]
    assert lines[-1]["prompt_eval_count"] == 7
    assert whole.json()["message"]["content"] == "Ann runs Orion in Oslo."


def test_ollama_sends_the_arguments_of_a_call_as_an_object(model_server: ModelServer) -> None:
    """Not as the text of one."""
    call = ToolCall(id="c", name="look_up", arguments='{"city": "Oslo"}')
    model_server.reply("chat", Reply(text=None, tool_calls=(call,)))
    body = {"model": "m", "messages": MESSAGES, "stream": False}

    message = post(model_server, "/api/chat", body).json()["message"]

    assert message["tool_calls"] == [
        {"function": {"name": "look_up", "arguments": {"city": "Oslo"}}}
    ]


def test_ollama_embeds_many_texts(model_server: ModelServer) -> None:
    """One vector a text; a text alone is one too."""
    many = post(model_server, "/api/embed", {"model": "e", "input": ["a", "b"], "dimensions": 8})
    one = post(model_server, "/api/embed", {"model": "e", "input": "a"})

    assert [len(vector) for vector in many.json()["embeddings"]] == [8, 8]
    assert len(one.json()["embeddings"]) == 1


def test_ollama_tells_of_its_models() -> None:
    """Version, list, and what one takes; an unknown one is an error whose text names it."""
    with ModelServer(models=["a"], context_length=2048) as server:
        tags = httpx.get(f"{server.root}/api/tags", trust_env=False).json()
        version = httpx.get(f"{server.root}/api/version", trust_env=False).json()
        shown = post(server, "/api/show", {"model": "a"}).json()
        unknown = post(server, "/api/show", {"model": "b"})
        unasked = post(server, "/api/chat", {"model": "b", "messages": MESSAGES})

    assert [model["name"] for model in tags["models"]] == ["a"]
    assert version["version"]
    assert shown["model_info"]["llama.context_length"] == 2048
    for answer in (unknown, unasked):
        assert (answer.status_code, answer.json()) == (404, {"error": "model 'b' not found"})


@pytest.mark.parametrize(
    ("options", "is_cut"), [({}, True), ({"num_ctx": 8192}, False), ({"num_ctx": 1024}, True)]
)
def test_ollama_cuts_the_beginning_in_silence(
    model_server: ModelServer, options: dict[str, int], is_cut: bool
) -> None:
    """Status 200, a filled context, and the model saw the end only; the system's words stay."""
    model_server.reply("chat", lambda request: f"{request.texts[0]}|{'FIRST' in request.text}")
    long = "FIRST " + "word " * 5000
    messages = [{"role": "system", "content": "Cite."}, {"role": "user", "content": long}]
    body = {"model": "m", "messages": messages, "stream": False, "options": options}

    answer = post(model_server, "/api/chat", body).json()

    assert answer["message"]["content"] == f"Cite.|{not is_cut}"
    assert len(model_server.cuts) == (1 if is_cut else 0)
    if is_cut:
        assert answer["prompt_eval_count"] == options.get("num_ctx", 4096)


def test_a_newer_ollama_refuses_what_it_may_not_cut() -> None:
    """``truncate: false`` is understood by newer servers alone; embeddings always knew it."""
    long = "word " * 5000
    chat = {"model": "m", "messages": [{"role": "user", "content": long}], "truncate": False}
    with ModelServer(obeys_truncate=True, context_length=4096) as server:
        chatted = post(server, "/api/chat", chat)
        embedded = post(server, "/api/embed", {"model": "m", "input": long, "truncate": False})

    for answer in (chatted, embedded):
        assert answer.status_code == 400
        assert answer.json() == {"error": "the input length exceeds the context length"}


def test_ollamas_errors_are_texts(model_server: ModelServer) -> None:
    """A fault is told in the vendor's form."""
    model_server.fault(Fault(status=503, retry_after=3))
    answer = post(model_server, "/api/chat", {"model": "m", "messages": MESSAGES})

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "3"
    assert "server busy" in answer.json()["error"]


# --- the word before a build --------------------------------------------------------------------


def test_the_word_before_a_build_is_a_kind_of_its_own(model_server: ModelServer) -> None:
    """It is told apart from the work, and vectors for it are made by the rules for vectors."""
    model_server.reply("embedding", lambda request: [[1.0, 2.0]] * len(request.texts))
    ping = {"model": "m", "messages": [{"role": "user", "content": "ping"}]}
    said = post(model_server, "/v1/chat/completions", ping).json()
    vector = post(model_server, "/v1/embeddings", {"model": "e", "input": ["ping"]}).json()

    assert said["choices"][0]["message"]["content"] == "ok"
    assert vector["data"][0]["embedding"] == [1.0, 2.0]
    assert model_server.counts["probe"].calls == 2
