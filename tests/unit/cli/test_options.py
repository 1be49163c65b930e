"""Options of the commands, each seen by its effect."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holodeck.cli import main
from holodeck.lib.indexes.builder_lock import builder_lock
from holodeck.testing import ModelServer, ServerRequest
from holodeck.testing.project import SKIPPED, write_documents

Captured = pytest.CaptureFixture[str]

SEARCH = """\
name: reader
model: {provider: embedded}
tools: [{name: k, source: docs}]
"""
AGENT = """\
name: reader
model: {{provider: openai, name: answers, api_base: "{url}", api_key: any}}
execution: {{max_retries: 0}}
evaluations:
  judge: {{provider: openai, name: judges, api_base: "{url}", api_key: any}}
  metrics: [{{metric: relevancy, threshold: 0.5}}]
tools: [{{name: k, source: docs}}]
test_cases: [{{name: a, input: One}}, {{name: b, input: Two}}, {{name: c, input: Three}}]
"""
INDEX = Path(".holodeck") / "vectorstore" / "k"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents and an agent, where the process now runs."""
    write_documents(tmp_path)
    (tmp_path / "agent.yaml").write_text(SEARCH, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[ModelServer]:
    """A model that answers and one that judges; the agent's file names both."""

    def say(request: ServerRequest) -> str:
        return '{"score": 9, "reason": "fine"}' if request.model == "judges" else "Yes."

    with ModelServer() as running:
        running.reply("chat", say)
        (folder / "agent.yaml").write_text(AGENT.format(url=running.url), encoding="utf-8")
        yield running


def printed(capsys: Captured, *words: str) -> Any:  # Any: JSON
    """Run a command and return the document that it prints."""
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_estimate_builds_nothing(folder: Path, capsys: Captured) -> None:
    """``--estimate`` says what is there to do, and there is no index afterwards."""
    document = printed(capsys, "index", "--estimate")

    assert document["tools"]
    assert not (folder / INDEX / "index.meta").exists()


def test_an_estimate_of_several_tools_says_what_all_take(
    server: ModelServer, folder: Path, capsys: Captured
) -> None:
    """At most the sum of what each takes at most, as JSON and in the last line of the words."""
    two = AGENT.replace("tools: [", "tools: [{{name: l, source: docs}}, ")
    (folder / "agent.yaml").write_text(two.format(url=server.url), encoding="utf-8")

    document = printed(capsys, "index", "--estimate")
    assert main(["index", "--estimate"]) == 0
    *_, last = capsys.readouterr().out.splitlines()

    assert len(document["tools"]) == 2
    most = sum(tool["calls"]["high"] for tool in document["tools"])
    assert document["at_most"]["calls"] == most > 0
    assert document["at_most"]["cost"] == sum(tool["cost"]["high"] for tool in document["tools"])
    assert last.startswith(f"all tools: at most {most} calls and $")
    assert main(["index", "--estimate", "--tool", "k"]) == 0
    assert "all tools" not in capsys.readouterr().out


def test_a_filter_is_the_searchs(folder: Path, capsys: Captured) -> None:
    """``--filter`` leaves the places that it names, and a wrong one is told."""
    found = printed(capsys, "search", "Who runs it?", "--filter", "path=bob.*")

    assert {source["path"] for source in found["sources"]} == {"bob.md"}
    assert main(["search", "Who?", "--filter", "bob.md"]) == 2
    assert "NAME=VALUE" in capsys.readouterr().err
    assert main(["search", "Who?", "--filter", "path=a", "--filter", "path=b"]) == 2
    assert "'path' has two conditions" in capsys.readouterr().err


def test_wait_waits_for_another_builder(folder: Path, capsys: Captured) -> None:
    """Without it the second builder fails at once; with it, it builds when the first has ended."""
    (folder / INDEX).mkdir(parents=True)
    holds, done = threading.Event(), threading.Event()

    async def hold() -> None:
        async with builder_lock(folder / INDEX / ".lock", "k", wait_seconds=0):
            holds.set()
            await asyncio.to_thread(done.wait, 60)

    holder = threading.Thread(target=lambda: asyncio.run(hold()))
    holder.start()
    try:
        assert holds.wait(30)
        assert main(["index"]) == 3
        assert "holodeck index --wait" in capsys.readouterr().err
        threading.Timer(0.3, done.set).start()
        assert main(["index", "--wait"]) == 0
    finally:
        done.set()
        holder.join()
    assert (folder / INDEX / "index.meta").is_file()


@pytest.mark.parametrize(
    "words", [["search", "Who?"], ["chat", "-m", "Who?"], ["test", "--no-history"]]
)
def test_whoever_builds_says_what_is_not_in_it_and_whoever_does_not_what_is_stale(
    words: list[str], folder: Path, capsys: Captured
) -> None:
    """A skipped file is named where the index is built; with ``--no-index`` a change is."""
    cases = "test_cases: [{name: a, input: Who, expected_tools: [k]}]\n"
    (folder / "agent.yaml").write_text(SEARCH + cases, encoding="utf-8")
    assert main(words) == 0
    assert f"warning: skipped {SKIPPED}" in capsys.readouterr().err
    (folder / "docs" / "new.txt").write_text("Zoe runs Lyra.", encoding="utf-8")
    assert main([*words, "--no-index"]) == 0
    assert "warning: the index is stale (the documents changed)" in capsys.readouterr().err


def test_no_cache_pays_again(server: ModelServer) -> None:
    """What is kept is asked for anew; without the option nothing is."""
    assert main(["index"]) == 0
    server.reset_counts()
    assert main(["index", "--force"]) == 0
    assert server.counts["embedding"].calls == 0
    assert main(["index", "--no-cache"]) == 0
    assert server.counts["embedding"].calls == 1


def test_a_limit_runs_the_first_cases(server: ModelServer, capsys: Captured) -> None:
    """``--limit 2`` leaves the third case out, and its question is never asked."""
    (run,) = printed(capsys, "test", "--limit", "2", "--no-history")["runs"]

    assert [case["name"] for case in run["cases"]] == ["a", "b"]
    assert not any("Three" in request.text for request in server.requests)


def test_parallel_is_how_many_cases_run_at_once(server: ModelServer, capsys: Captured) -> None:
    """As many as are allowed wait for the model together; with ``--parallel 1`` one does."""
    assert main(["index"]) == 0
    capsys.readouterr()
    server.pause()
    waiter = threading.Thread(target=_resume_at, args=(server, 3))
    waiter.start()
    printed(capsys, "test", "--parallel", "3", "--no-history")
    waiter.join()
    assert server.counts["chat"].in_flight_max == 3
    server.reset_counts()
    printed(capsys, "test", "--parallel", "1", "--no-history")
    assert server.counts["chat"].in_flight_max == 1


def _resume_at(server: ModelServer, calls: int) -> None:
    server.wait_for(calls, "chat")
    server.resume()


def test_the_judge_is_the_one_that_yaml_names(server: ModelServer, capsys: Captured) -> None:
    """``evaluations.judge`` judges, the agent's model answers, and the threshold decides."""
    (run,) = printed(capsys, "test", "--no-history")["runs"]

    assert run["counts"]["passed"] == 3
    assert run["means"] == {"relevancy": 0.9}
    asked = [request.model for request in server.requests if request.is_chat]
    assert sorted(asked) == ["answers"] * 3 + ["judges"] * 3


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["--output", "report.md"], "# reader"),
        (["--output", "report.txt", "--format", "junit"], "<?xml"),
        (["--output", "report.txt", "--format", "json"], "{"),
    ],
)
def test_a_report_has_the_form_that_is_asked_for(
    words: list[str], begins: str, server: ModelServer, folder: Path
) -> None:
    """By ``--format``, else by the file's ending."""
    assert main(["test", *words, "--no-history"]) == 0

    assert (folder / words[1]).read_text("utf-8").startswith(begins)


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "junit"],
        ["--output", "report", "--format", "pdf"],
        ["--output", "nowhere/report.md"],
        ["--output", "report.html"],
        ["--output", "."],
        ["--output", "agent.yaml"],
        ["--output", ".env", "--format", "json"],
        ["--output", "docs/report.md"],
        ["--output", "notes.md"],
        ["--max-cost", "0"],
        ["--limit", "0"],
        ["--parallel", "0"],
        ["--compare", "=x"],
        ["--compare", "name=x"],
        ["--force", "--no-index"],
    ],
)
def test_options_that_cannot_be_followed_are_told_before_anything_runs(
    words: list[str], server: ModelServer, folder: Path
) -> None:
    """Exit code 2, and nobody was asked."""
    (folder / "notes.md").write_text("# What I know\n", encoding="utf-8")
    assert main(["test", *words]) == 2
    assert server.requests == []


def test_an_earlier_report_is_replaced(server: ModelServer, folder: Path) -> None:
    """In every form, since each run gives a newer one."""
    for name in ("report.md", "report.json", "report.xml"):
        for _ in range(2):
            assert main(["test", "--output", name, "--no-history", "--limit", "1"]) == 0, name


def test_a_run_that_cannot_be_kept_is_refused_before_anything_runs(
    server: ModelServer, folder: Path
) -> None:
    """A file where the folder of the runs would be: exit code 2, and nobody was asked."""
    (folder / ".holodeck").mkdir()
    (folder / ".holodeck" / "runs").write_text("", encoding="utf-8")
    assert main(["test"]) == 2
    assert server.requests == []
    assert main(["test", "--no-history"]) == 0


def test_results_are_printed_that_cannot_be_written_down(
    server: ModelServer, folder: Path, capsys: Captured
) -> None:
    """Both places go while the cases run: the document comes, then the reasons and code 3."""
    (folder / "reports").mkdir()

    def spoil(request: ServerRequest) -> str:
        if request.model == "answers":
            shutil.rmtree(folder / "reports", ignore_errors=True)
            shutil.rmtree(folder / ".holodeck" / "runs", ignore_errors=True)
            (folder / ".holodeck" / "runs").touch()
            return "Yes."
        return '{"score": 9, "reason": "fine"}'

    server.reply("chat", spoil)
    words = ["test", "--limit", "1", "--json", "--output", "reports/report.md"]
    assert main(words) == 3
    printed_out = capsys.readouterr()
    assert json.loads(printed_out.out)["runs"][0]["counts"]["passed"] == 1
    assert "reports/report.md" in printed_out.err
    assert "--no-history" in printed_out.err
