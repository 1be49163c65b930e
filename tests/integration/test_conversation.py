"""A talk at a real terminal: whatever goes wrong in a turn is shown, and the talk goes on."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import holodeck
from holodeck.lib.contracts import ToolCall
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest
from holodeck.testing.project import write_documents

pytestmark = pytest.mark.heavy

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(holodeck.__file__).parents[1]),
    "TERM": "dumb",
    "COLUMNS": "80",
}
AGENT = """\
name: analyst
model: {{provider: openai, name: any, api_base: "{url}", api_key: secret}}
execution:
  max_retries: 1
  llm_timeout: 10
  prices: {{any: {{input: 1, output: 10}}}}
tools:
  - {{name: knowledge, source: docs, embedding_model: {{provider: embedded}}}}
  - {{name: add, type: function, function: "sums:add"}}
"""
SUMS = '''\
def add(first: int, second: int) -> int:
    """Add two whole numbers."""
    if first > 99:
        raise OverflowError("too large for me")
    return first + second
'''


def answer(request: ServerRequest) -> Reply:
    """Call the tool that the question names, then say what came back."""
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return Reply(text=f"The tool says: {last['content'].splitlines()[-1]}")
    question = last["content"]
    for word, name, arguments in (
        ("Orion", "knowledge", {"query": question}),
        ("sum", "add", {"first": 100, "second": 1}),
    ):
        if word in question:
            call = ToolCall(id=f"c{len(question)}", name=name, arguments=json.dumps(arguments))
            return Reply(tool_calls=(call,))
    if "politely" in question:
        return Reply(text=None, refusal="I would rather not say")
    return Reply(text=f"You said: {question}")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers by rule."""
    with ModelServer() as running:
        running.reply("chat", answer)
        yield running


class Terminal:
    """The command at a pseudo terminal of 80 columns."""

    def __init__(self, project: Path, *words: str) -> None:
        main, other = pty.openpty()
        self._screen = main
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holodeck", "chat", *words],
            cwd=project,
            env=ENVIRONMENT,
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._screen, f"{text}\n".encode())

    def wait_for(self, text: str, seconds: float = 60.0) -> None:
        """Return when the screen has shown ``text``, wherever its lines were broken.

        What came before it is forgotten.
        """
        end = time.monotonic() + seconds
        pattern = re.compile(r"\s+".join(re.escape(word) for word in text.split(" ")))
        while not (found := pattern.search(self.seen)):
            ready, _, _ = select.select([self._screen], [], [], 0.1)
            if ready:
                self.seen += os.read(self._screen, 4096).decode()
            elif time.monotonic() > end:
                raise AssertionError(f"{text!r} did not appear; the screen has {self.seen!r}")
        self.seen = self.seen[found.end() :]

    def rest(self) -> str:
        """Return from the first brace on what a command that has ended left on the screen."""
        while select.select([self._screen], [], [], 0)[0]:
            try:
                self.seen += os.read(self._screen, 4096).decode()
            except OSError:  # the other side is closed
                break
        return self.seen[self.seen.index("{") :]

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        time.sleep(0.3)  # readline shows its prompt a moment before it listens for signals
        os.kill(self.process.pid, signal.SIGINT)

    def close(self) -> None:
        """Leave, whatever is going on."""
        self.process.kill()
        self.process.wait()
        os.close(self._screen)


def project_of(folder: Path, server: ModelServer) -> Path:
    """Write an agent, its documents and its function."""
    write_documents(folder)
    (folder / "sums.py").write_text(SUMS, encoding="utf-8")
    (folder / "agent.yaml").write_text(AGENT.format(url=server.url), encoding="utf-8")
    return folder


@pytest.fixture
def terminal(tmp_path: Path, server: ModelServer) -> Iterator[Terminal]:
    """The command, waiting for the first question."""
    made = Terminal(project_of(tmp_path, server))
    made.wait_for("> ")
    yield made
    made.close()


@pytest.fixture
def json_terminal(tmp_path: Path, server: ModelServer) -> Iterator[Terminal]:
    """The same with ``--json``, which shows no prompt."""
    made = Terminal(project_of(tmp_path, server), "--json")
    made.wait_for("Ctrl-C")
    yield made
    made.close()


SCRIPT = (
    # what is typed, and what the transcript must then show, in this order
    ("Who runs Orion?", ("[knowledge] query: Who runs Orion?", "[knowledge] found in ann.txt")),
    ("sum", ("[add] failed: OverflowError: too large for me", "The tool says: add failed")),
    ("politely", ("error:", "refused this text: I would rather not say")),
    ("forbidden", ("error:", "refused this text", "400")),
    ("busy once", ("You said: busy once",)),
    ("too busy", ("error:", "limits the rate of calls (429", "execution.concurrency")),
    (
        "asleep",
        ("error:", "did not answer a call for 'agent' within 10 s", "llm_timeout"),
    ),
)


def test_a_transcript_shows_each_kind_of_turn_and_the_talk_goes_on(
    terminal: Terminal, server: ModelServer
) -> None:
    """A search, a failing tool, refusals, rate limits, a time limit and a cancelled turn, in one.

    What is sent afterwards holds the turns that were finished, each call with its answer.
    """
    server.fault(Fault(kind="chat", containing="forbidden", code="content_filter"))
    server.fault(Fault(kind="chat", containing="busy once", first=1, status=429, retry_after=0))
    server.fault(Fault(kind="chat", containing="too busy", status=429, retry_after=0))
    server.fault(Fault(kind="chat", containing="asleep", hang=60))
    for typed, shown in SCRIPT:
        terminal.type(typed)
        for text in shown:
            terminal.wait_for(text)
        terminal.wait_for("> ")
    stop_in_the_middle(server)
    terminal.type("Who runs Orion, then stop")
    terminal.wait_for("[knowledge] found in")
    server.wait_for(2, "chat")
    terminal.interrupt()
    terminal.wait_for("stopped; Ctrl-C once more")
    server.resume()
    terminal.wait_for("> ")
    terminal.type("Goodbye")
    terminal.wait_for("You said: Goodbye")
    said = server.requests[-1].body["messages"]
    asked = [message["content"] for message in said if message["role"] == "user"]
    assert asked == ["Who runs Orion?", "sum", "busy once", "Goodbye"]
    assert unanswered_calls(said) == []
    terminal.wait_for("> ")
    terminal.type("/quit")
    terminal.wait_for("together:")
    assert terminal.process.wait(timeout=30) == 0


def stop_in_the_middle(server: ModelServer) -> None:
    """Let the next question that says so get a call of the tool, and no answer after it."""

    def call_and_pause(request: ServerRequest) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return Reply(text="Nobody hears this.")
        server.pause()
        arguments = json.dumps({"query": "Orion"})
        return Reply(tool_calls=(ToolCall(id="c0", name="knowledge", arguments=arguments),))

    server.reset_counts()
    server.reply("chat", call_and_pause, containing="then stop")


def unanswered_calls(messages: Sequence[dict[str, Any]]) -> list[str]:  # Any: JSON
    """Return the ids of calls that the next messages do not answer, which no server accepts."""
    wanted: list[str] = []
    left: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            wanted.remove(message["tool_call_id"])
            continue
        left += wanted
        wanted = [call["id"] for call in message.get("tool_calls", ())]
    return left + wanted


def test_the_json_of_a_talk_has_the_turn_that_was_stopped(
    json_terminal: Terminal, server: ModelServer
) -> None:
    """A stopped turn stands in it with why, and with what it took until then."""
    stop_in_the_middle(server)
    json_terminal.type("Who runs Orion, then stop")
    server.wait_for(2, "chat")
    json_terminal.interrupt()
    json_terminal.wait_for("stopped; Ctrl-C once more")
    server.resume()
    json_terminal.type("Hello")
    json_terminal.wait_for("1 call, ")
    json_terminal.type("/quit")
    json_terminal.wait_for("together:")
    assert json_terminal.process.wait(timeout=30) == 0
    stopped, hello = json.loads(json_terminal.rest())["turns"]
    assert (stopped["error"], stopped["spent"]["calls"]) == ("interrupted", 1)
    assert (hello["text"], hello["spent"]["calls"]) == ("You said: Hello", 1)


def test_ctrl_c_stops_the_turn_and_a_second_one_leaves(
    terminal: Terminal, server: ModelServer
) -> None:
    """The talk survives the first, says how to leave, and ends with 130 at the second."""
    server.pause()
    terminal.type("Hello")
    server.wait_for(1, "chat")
    terminal.interrupt()
    terminal.wait_for("stopped; Ctrl-C once more")
    server.resume()
    terminal.wait_for("> ")
    terminal.type("Again")
    terminal.wait_for("You said: Again")
    terminal.wait_for("> ")
    terminal.interrupt()
    terminal.wait_for("stopped; Ctrl-C once more")
    terminal.interrupt()
    assert terminal.process.wait(timeout=30) == 130
    assert "Traceback" not in terminal.seen


def test_a_terminal_without_colour_gets_none(terminal: Terminal) -> None:
    """No escape sequence, and no line of ours is wider than the screen."""
    terminal.type("Hello")
    terminal.wait_for("You said: Hello")
    terminal.type("/quit")
    assert terminal.process.wait(timeout=30) == 0
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.seen)
