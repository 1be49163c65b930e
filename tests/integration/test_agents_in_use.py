"""Agents as people use them: time limits of YAML, keys that are missing, loops of all kinds."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holodeck.cli import main
from holodeck.config.loader import load_agent
from holodeck.errors import IndexingError, ProviderTimeoutError
from holodeck.lib.contracts import ToolCall
from holodeck.lib.test_runner.agent_factory import Agent, create_agent
from holodeck.lib.test_runner.executor import run_cases
from holodeck.models.evaluation import Evaluations
from holodeck.models.test_case import Case
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest
from holodeck.testing.project import write_documents

AGENT = """\
name: reader
model: {{provider: openai, name: any, api_base: "{url}", api_key: secret}}
execution: {{max_retries: 0, {limits}}}
tools:
  - name: knowledge
    source: docs
    embedding_model: {{provider: openai, name: text-embedding-3-small, api_base: "{url}"}}
"""


def look_up(request: ServerRequest) -> str | Reply:
    """Ask the tool, then say what it found; answer a greeting at once."""
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return f"Found: {last['content']}"
    if last["content"].startswith("Hello"):
        return str(last["content"])
    arguments = json.dumps({"query": last["content"]})
    return Reply(tool_calls=(ToolCall(id="c1", name="knowledge", arguments=arguments),))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that looks things up."""
    with ModelServer() as running:
        running.reply("chat", look_up)
        yield running


def agent_of(folder: Path, server: ModelServer, limits: str = "llm_timeout: 30") -> Agent:
    """Write documents and an agent with these limits, and load it."""
    if not (folder / "docs").exists():
        write_documents(folder)
    file = folder / "agent.yaml"
    file.write_text(AGENT.format(url=server.url, limits=limits), encoding="utf-8")
    return create_agent(load_agent(file, environ={}))


@pytest.mark.parametrize("kind", ["chat", "embedding"])
async def test_a_time_limit_of_yaml_is_that_of_turns_tools_and_tests(
    tmp_path: Path, server: ModelServer, kind: str
) -> None:
    """A model or a tool that is slower fails by that setting; with more time the same succeeds."""
    ready = agent_of(tmp_path, server)
    await ready.initialize()
    await ready.close()

    server.fault(Fault(kind=kind, hang=60))
    hasty = agent_of(tmp_path, server, "llm_timeout: 0.3")
    await hasty.open_existing()
    if kind == "chat":
        with pytest.raises(ProviderTimeoutError, match=r"'agent' within 0\.3 s.*llm_timeout"):
            await hasty.conversation().ask("Orion?")
        run = await run_cases(hasty, [Case(name="a", input="Orion?")], Evaluations())
        assert "execution.llm_timeout" in (run.cases[0].turns[0].error or "")
    else:
        turn = await hasty.conversation().ask("Orion?")
        assert turn.tool_uses[0].failed
        assert "'embed' within 0.3 s: raise execution.llm_timeout" in turn.tool_uses[0].text
    await hasty.close()

    server.heal()
    server.fault(Fault(kind=kind, hang=0.5))
    patient = agent_of(tmp_path, server)
    await patient.open_existing()
    turn = await patient.conversation().ask("Orion?")
    assert "Ann Lee" in turn.text
    await patient.close()


async def test_the_index_of_an_agent_fails_by_the_same_limit(
    tmp_path: Path, server: ModelServer
) -> None:
    """Before the first question, and saying which call and which setting."""
    server.fault(Fault(kind="embedding", hang=60))
    server.fault(Fault(kind="probe", hang=60))
    hasty = agent_of(tmp_path, server, "llm_timeout: 0.3")
    with pytest.raises(IndexingError, match=r"within 0\.3 s.*llm_timeout"):
        await hasty.initialize()
    await hasty.close()


async def test_a_tool_has_a_limit_of_its_own(tmp_path: Path, server: ModelServer) -> None:
    """``tool_timeout`` ends a call of the tool, and the turn goes on with what it says."""
    ready = agent_of(tmp_path, server)
    await ready.initialize()
    await ready.close()
    server.fault(Fault(kind="embedding", hang=60))
    hasty = agent_of(tmp_path, server, "llm_timeout: 30, tool_timeout: 0.3")
    await hasty.open_existing()
    turn = await hasty.conversation().ask("Orion?")
    assert "no result within 0.3 s (execution.tool_timeout)" in turn.text
    await hasty.close()


def let_poll(folder: Path, server: ModelServer, function: str, more: str = "") -> None:
    """Write an agent whose function ``poll`` its model calls once, to answer by what it said."""
    (folder / "jobs.py").write_text(function, encoding="utf-8")
    (folder / "agent.yaml").write_text(
        f'name: a\nmodel: {{provider: openai, name: any, api_base: "{server.url}"}}\n'
        f"tools: [{{name: poll, type: function, function: 'jobs:poll'}}]\n{more}",
        encoding="utf-8",
    )

    def call_it(request: ServerRequest) -> str | Reply:
        last = request.body["messages"][-1]
        if last["role"] == "tool":
            return f"Found: {last['content']}"
        return Reply(tool_calls=(ToolCall(id="c1", name="poll", arguments="{}"),))

    server.reply("chat", call_it)


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with a key."""
    return subprocess.run(
        [sys.executable, "-m", "holodeck", *words],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "secret", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_function_left_behind_costs_no_exit_code(tmp_path: Path, server: ModelServer) -> None:
    """Whatever library it is in when the process ends: the turn was answered, and that is told."""
    let_poll(
        tmp_path,
        server,
        "from pydantic import TypeAdapter\n\n"
        'def poll() -> str:\n    """Wait for a job."""\n'
        "    return TypeAdapter(list[int]).validate_python(iter(lambda: 1, 2))\n",
        more="execution: {tool_timeout: 0.3}\n",
    )
    done = run_in(tmp_path, "chat", "-m", "Is it done?")
    assert "no result within 0.3 s" in done.stdout
    assert (done.returncode, "error" in done.stderr) == (0, False)


@pytest.mark.parametrize("words", [["chat", "-m", "Say it."], ["test", "--no-history"]])
def test_what_functions_print_is_no_part_of_the_document(
    tmp_path: Path, server: ModelServer, words: list[str]
) -> None:
    """Nor what their subprocesses do, nor what is written to the descriptor itself."""
    let_poll(
        tmp_path,
        server,
        "import os, subprocess\n\n"
        'def poll() -> str:\n    """Say something."""\n'
        "    print('by print')\n    os.write(1, b'by descriptor\\n')\n"
        "    subprocess.run(['echo', 'by subprocess'])\n    return 'said'\n",
        more="test_cases: [{name: one, input: Say it., expected_tools: [poll]}]\n",
    )
    done = run_in(tmp_path, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert "Found: said" in json.dumps(json.loads(done.stdout))
    for means in ("print", "descriptor", "subprocess"):
        assert f"by {means}\n" in done.stderr


@pytest.mark.parametrize("words", [["chat", "-m", "Say it."], ["test", "--no-history"]])
def test_a_function_that_closes_its_stdout_closes_nothing_of_ours(
    tmp_path: Path, server: ModelServer, words: list[str]
) -> None:
    """The call, the answer and what a turn took are told as ever."""
    let_poll(
        tmp_path,
        server,
        "import sys\n\n"
        'def poll() -> str:\n    """Say something."""\n'
        "    print('by print', end='')\n    sys.stdout.close()\n    return 'said'\n",
        more="test_cases: [{name: one, input: Say it., expected_tools: [poll]}]\n",
    )
    done = run_in(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert ("Found: said" if "chat" in words else "1 of 1 passed") in done.stdout
    assert "by print" in done.stderr
    assert ("(2 calls" if "chat" in words else "passed   one") in done.stderr


def test_a_function_that_changes_the_folder_moves_no_report(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report and the kept run stand where they were asked for."""
    (tmp_path / "elsewhere").mkdir()
    let_poll(
        tmp_path,
        server,
        'import os\n\ndef poll() -> None:\n    """Go."""\n    os.chdir("elsewhere")\n',
        more="test_cases: [{name: one, input: Go., expected_tools: [poll]}]\n",
    )
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.chdir(tmp_path)

    assert main(["test", "--output", "r.md"]) == 0

    assert (tmp_path / "r.md").is_file()
    assert len(list((tmp_path / ".holodeck" / "runs").glob("*.json"))) == 1
    assert not list((tmp_path / "elsewhere").iterdir())


def write_keyless(folder: Path, provider: str, server: str) -> None:
    """Write an agent with a test case, in whose file no key stands."""
    (folder / "agent.yaml").write_text(
        f'name: a\nmodel: {{provider: {provider}, name: any, api_base: "{server}"}}\n'
        "tools: [{name: k, source: docs, embedding_model: {provider: embedded}}]\n"
        "test_cases: [{name: one, input: Hello, ground_truth: Hello, "
        "evaluations: [{metric: equality}]}]\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize("key", [None, "", "  ", "${OPENAI_API_KEY}"])
@pytest.mark.parametrize("command", [("chat", "-m", "Hello"), ("test",)], ids=["chat", "test"])
def test_a_missing_key_is_told_before_anything_is_read(
    tmp_path: Path,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    key: str | None,
) -> None:
    """Exit code 2 naming variable and setting; no folder is made, nobody is asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(200):
        (docs / f"{number}.txt").write_text(f"Text {number}.", encoding="utf-8")
    write_keyless(tmp_path, "openai", server.url)
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "OPENAI_API_KEY" in told
    assert "agent.yaml:2: model" in told
    assert not (tmp_path / ".holodeck").exists()
    assert server.counts.total.calls == 0


@pytest.mark.parametrize("command", [("chat", "-m", "Hello"), ("test",)], ids=["chat", "test"])
def test_a_local_model_wants_no_key(
    tmp_path: Path,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    """Ollama talks and is tested with no variable set at all."""
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    write_documents(tmp_path)
    write_keyless(tmp_path, "ollama", server.root)
    monkeypatch.chdir(tmp_path)
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert "Hello" in out if command[0] == "chat" else "1 of 1 passed" in out
    assert "$0.00" in (err if command[0] == "chat" else out)


def ask(agent: Agent, question: str) -> str:
    """Answer one question in a loop of its own."""

    async def turn() -> str:
        return (await agent.conversation().ask(question)).text

    return asyncio.run(turn())


def test_an_agent_outlives_the_loops_that_it_is_used_in(
    tmp_path: Path, server: ModelServer
) -> None:
    """One loop after another, and loops of other threads at the same time."""
    agent = agent_of(tmp_path, server)
    asyncio.run(agent.initialize())
    assert "Ann Lee" in ask(agent, "Orion?")
    assert "Bob Ray" in ask(agent, "Vega?")
    answers: dict[str, str] = {}

    def keep(question: str) -> None:
        answers[question] = ask(agent, question)

    threads = [threading.Thread(target=keep, args=(word,)) for word in ("Orion?", "Vega?")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "Ann Lee" in answers["Orion?"]
    assert "Bob Ray" in answers["Vega?"]
    asyncio.run(agent.close())


async def test_turns_at_once_and_a_cancelled_one_leave_the_agent_usable(
    tmp_path: Path, server: ModelServer
) -> None:
    """Conversations do not mix; one that is cancelled in the middle goes on with the next."""
    agent = agent_of(tmp_path, server)
    await agent.initialize()
    orion, vega = agent.conversation(), agent.conversation()
    first, second = await asyncio.gather(orion.ask("Orion?"), vega.ask("Vega?"))
    assert "Ann Lee" in first.text
    assert "Bob Ray" in second.text

    server.reset_counts()
    server.pause()
    cut = asyncio.create_task(orion.ask("Hydra?"))
    await asyncio.to_thread(server.wait_for, 1, "chat")
    cut.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cut
    server.resume()
    assert (await orion.ask("Hello again")).text == "Hello again"
    said = [m["content"] for m in server.requests[-1].body["messages"] if m["role"] == "user"]
    assert said == ["Orion?", "Hello again"]
    await agent.close()
