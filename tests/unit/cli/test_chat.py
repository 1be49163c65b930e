"""``holodeck chat``: as a pipe, and for one turn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import holodeck
from holodeck.lib.contracts import ToolCall
from holodeck.lib.test_runner.model_agent import BREAKS_OFF
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest
from holodeck.testing.project import write_documents

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(holodeck.__file__).parents[1]),
    "TERM": "dumb",
    "COLUMNS": "80",
}
CHAT = [sys.executable, "-m", "holodeck", "chat"]
AGENT = """\
name: analyst
model: {{provider: openai, name: any, api_base: "{url}", api_key: secret}}
execution: {{max_retries: 0, llm_timeout: 30}}
tools:
  - {{name: add, type: function, function: "sums:add"}}
"""
KNOWLEDGE = "  - {name: knowledge, source: docs, embedding_model: {provider: embedded}}\n"
SUMS = '''\
def add(first: int, second: int) -> int:
    """Add two whole numbers."""
    print("adding")
    return first + second


print("loaded")
'''


def answer(request: ServerRequest) -> str | Reply:
    """Call the tool that the question names, then say what came back."""
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return f"The tool says: {last['content'].splitlines()[-1]}"
    question = last["content"]
    if "Orion" in question:
        arguments = json.dumps({"query": question})
        return Reply(tool_calls=(ToolCall(id="c1", name="knowledge", arguments=arguments),))
    if "sum" in question:
        arguments = json.dumps(
            {"first": 1, "second": 2} if "right" in question else {"first": "one"}
        )
        return Reply(tool_calls=(ToolCall(id="c1", name="add", arguments=arguments),))
    if "at length" in question:
        return Reply(text="First of all,", finish_reason="length")
    return f"You said: {question}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers by rule."""
    with ModelServer() as running:
        running.reply("chat", answer)
        yield running


@pytest.fixture
def talker(tmp_path: Path, server: ModelServer) -> Path:
    """A folder with an agent and its function."""
    (tmp_path / "sums.py").write_text(SUMS, encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT.format(url=server.url), encoding="utf-8")
    return tmp_path


@pytest.fixture
def project(talker: Path) -> Path:
    """The same folder with documents, which the agent knows."""
    write_documents(talker)
    with (talker / "agent.yaml").open("a", encoding="utf-8") as agent:
        agent.write(KNOWLEDGE)
    return talker


def chat(project: Path, *arguments: str, say: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command with what is typed."""
    return subprocess.run(
        [*CHAT, *arguments],
        cwd=project,
        env=ENVIRONMENT,
        input=say,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_talk_shows_what_it_does_and_goes_on_after_each_failure(
    project: Path, server: ModelServer
) -> None:
    """A search, a tool called wrongly, a refusal, a rate limit and the commands, in one talk."""
    server.fault(Fault(kind="chat", containing="forbidden", code="content_filter"))
    server.fault(Fault(kind="chat", containing="too often", status=429))
    said = chat(
        project,
        say="Who runs the Orion project?\n/sources\nsum?\nforbidden\n/reset\ntoo often\n/reset\n"
        "/tools\n/nonsense\nHello\n/quit\nnever\n",
    )
    assert said.returncode == 3, said.stderr
    assert "You said: Hello" in said.stdout
    assert "never" not in said.stdout
    for told in (
        "[knowledge] query: Who runs the Orion project?",
        "[knowledge] found in ann.txt",
        "1. ann.txt",
        "[add] failed: first: Input should be a valid integer",
        "content",
        "429",
        "forgotten what was said",
        "knowledge: Search over documents",
        "there is no command /nonsense",
        "(2 calls, ",
    ):
        assert told in said.stderr, told
    assert "Traceback" not in said.stderr


def test_an_answer_that_breaks_off_says_so(talker: Path) -> None:
    """What there is of it stands on stdout, and a note beside it, in words and in JSON."""
    said = chat(talker, "-m", "Tell it at length")
    assert (said.returncode, said.stdout) == (0, "First of all,\n")
    assert f"note: {BREAKS_OFF}\n" in said.stderr

    as_json = chat(talker, "-m", "Tell it at length", "--json")
    assert json.loads(as_json.stdout)["notes"] == [BREAKS_OFF]


def test_one_message_prints_the_answer_alone(project: Path) -> None:
    """``-m`` indexes first, answers on stdout, and says the rest on stderr."""
    said = chat(project, "-m", "Hello")
    assert (said.returncode, said.stdout) == (0, "You said: Hello\n")
    assert (project / ".holodeck" / "vectorstore" / "knowledge" / "index.meta").is_file()


def test_what_a_function_prints_is_no_answer(talker: Path) -> None:
    """Neither its module nor itself gets into stdout, as JSON or as words."""
    said = chat(talker, "-m", "right sum?")
    assert said.stdout == "The tool says: 3\n"
    assert "loaded\n" in said.stderr
    assert "adding\n" in said.stderr
    one = json.loads(chat(talker, "-m", "right sum?", "--json").stdout)
    assert one["text"] == "The tool says: 3"


@pytest.mark.heavy
def test_json_is_one_document(project: Path) -> None:
    """A turn with ``-m``, a list of turns otherwise, errors among them."""
    one = json.loads(chat(project, "-m", "Who runs the Orion project?", "--json").stdout)
    assert one["tool_uses"][0]["name"] == "knowledge"
    assert one["sources"][0]["path"] == "ann.txt"
    several = json.loads(chat(project, "--json", say="Hello\nsum?\n").stdout)
    assert [turn["question"] for turn in several["turns"]] == ["Hello", "sum?"]


@pytest.mark.heavy
def test_force_builds_again_and_no_index_builds_nothing(project: Path, server: ModelServer) -> None:
    """``--force`` commits a new record; ``--no-index`` without an index is an error."""
    refused = chat(project, "-m", "Hello", "--no-index")
    assert refused.returncode == 3
    assert "holodeck index" in refused.stderr
    assert server.counts["chat"].calls == 0
    record = project / ".holodeck" / "vectorstore" / "knowledge" / "index.meta"
    chat(project, "-m", "Hello")
    first = record.read_bytes()
    chat(project, "-m", "Hello")
    assert record.read_bytes() == first
    chat(project, "-m", "Hello", "--force")
    assert record.read_bytes() != first


def test_half_a_character_spoils_no_later_question(talker: Path, server: ModelServer) -> None:
    """What a model says stays in the conversation: it can be sent back and printed."""
    server.replay(["half \ud83d", "next"], kind="chat")
    said = chat(talker, say="Hello\nAnd then?\n")
    assert said.returncode == 0, said.stderr
    assert said.stdout == "half \ufffd\nnext\n"


def test_one_message_that_fails_ends_its_line_and_tells_what_it_took(
    talker: Path, server: ModelServer
) -> None:
    """The error does not stand behind a half answer, and calls that were paid are told."""
    server.fault(Fault(kind="chat", containing="long", cut_stream=True))
    half = chat(talker, "-m", "a long one")
    assert half.returncode == 3
    assert half.stdout.endswith("\n")
    server.replay(
        [Reply(text="", tool_calls=(ToolCall(id="c1", name="add", arguments="{}"),)), ""],
        kind="chat",
    )
    paid = chat(talker, "-m", "Hello")
    assert paid.returncode == 3
    assert "(2 calls, " in paid.stderr


def test_a_pipe_whose_last_turn_was_stopped_says_so_by_its_code(
    talker: Path, server: ModelServer
) -> None:
    """Ctrl-C in the last turn of a pipe gives 130; with an answer after it, the talk went on."""
    for more, code in (("", 130), ("Hello\n", 0)):
        server.reset_counts()
        server.pause()
        with subprocess.Popen(
            CHAT,
            cwd=talker,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdin is not None
            child.stdin.write("slow\n")
            child.stdin.flush()
            server.wait_for(1, "chat")
            child.send_signal(signal.SIGINT)
            assert child.stderr is not None
            assert any(line.startswith("stopped") for line in child.stderr)
            server.resume()
            child.communicate(more, timeout=60)
        assert child.returncode == code, more


def test_bytes_that_are_no_text_are_told_as_such(talker: Path, server: ModelServer) -> None:
    """In a pipe, where the talk goes on, and behind ``-m``; the model is not asked."""
    for words, typed in ((["--json"], b"caf\xe9\nHello\n"), (["-m", b"caf\xe9"], b"")):
        said = subprocess.run(
            [*CHAT, *words],
            cwd=talker,
            env=ENVIRONMENT,
            input=typed,
            capture_output=True,
            timeout=100,
            check=False,
        )
        assert said.returncode == 3
        assert b"not UTF-8" in said.stderr
        assert (b"You said: Hello" in said.stdout) is bool(typed)
    assert server.counts["chat"].calls == 1
