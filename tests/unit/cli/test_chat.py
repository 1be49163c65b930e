"""``holodeck chat``: as a pipe, for one turn, and at a real terminal."""

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
from collections.abc import Iterator
from pathlib import Path

import pytest

import holodeck
from holodeck.lib.contracts import ToolCall
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
  - {{name: knowledge, source: docs, embedding_model: {{provider: embedded}}}}
  - {{name: add, type: function, function: "sums:add"}}
"""
SUMS = '''\
def add(first: int, second: int) -> int:
    """Add two whole numbers."""
    return first + second
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
        arguments = json.dumps({"first": "one"})
        return Reply(tool_calls=(ToolCall(id="c1", name="add", arguments=arguments),))
    return f"You said: {question}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers by rule."""
    with ModelServer() as running:
        running.reply("chat", answer)
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ModelServer) -> Path:
    """A folder with an agent, its documents and its function."""
    write_documents(tmp_path)
    (tmp_path / "sums.py").write_text(SUMS, encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT.format(url=server.url), encoding="utf-8")
    return tmp_path


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


def test_one_message_prints_the_answer_alone(project: Path) -> None:
    """``-m`` indexes first, answers on stdout, and says the rest on stderr."""
    said = chat(project, "-m", "Hello")
    assert (said.returncode, said.stdout) == (0, "You said: Hello\n")
    assert (project / ".holodeck" / "vectorstore" / "knowledge" / "index.meta").is_file()


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


class Terminal:
    """The command at a pseudo terminal of 80 columns."""

    def __init__(self, project: Path) -> None:
        main, other = pty.openpty()
        self._screen = main
        self.process = subprocess.Popen(
            CHAT,
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
        """Return when the screen has shown ``text``; what came before it is forgotten."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self._screen], [], [], 0.1)
            if ready:
                self.seen += os.read(self._screen, 4096).decode()
            elif time.monotonic() > end:
                raise AssertionError(f"{text!r} did not appear; the screen has {self.seen!r}")
        self.seen = self.seen.partition(text)[2]

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        time.sleep(0.3)  # readline shows its prompt a moment before it listens for signals
        os.kill(self.process.pid, signal.SIGINT)

    def close(self) -> None:
        """Leave, whatever is going on."""
        self.process.kill()
        self.process.wait()
        os.close(self._screen)


@pytest.fixture
def terminal(project: Path) -> Iterator[Terminal]:
    """The command, waiting for the first question."""
    made = Terminal(project)
    made.wait_for("> ")
    yield made
    made.close()


@pytest.mark.heavy
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


@pytest.mark.heavy
def test_a_terminal_without_colour_gets_none(terminal: Terminal) -> None:
    """No escape sequence, and no line of ours is wider than the screen."""
    terminal.type("Hello")
    terminal.wait_for("You said: Hello")
    terminal.type("/quit")
    assert terminal.process.wait(timeout=30) == 0
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.seen)
