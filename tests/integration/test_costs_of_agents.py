"""What ``chat`` and ``test`` cost: said, reported and capped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holodeck.cli import main
from holodeck.lib.contracts import ToolCall
from holodeck.testing import ModelServer, Reply, ServerRequest

AGENT = """\
name: analyst
model: {{provider: openai, name: chatty, api_base: "{url}", api_key: k}}
tools:
  - name: graph
    engine: graphrag
    source: docs
    embedding_model: {{provider: embedded}}
    graphrag:
      indexing_model: {{provider: embedded}}
      search_model: {{provider: openai, name: thinker, api_base: "{url}"}}
execution:
  max_retries: 0
  prices:
    chatty: {{input: 0, output: 100, max_output: 100}}
    thinker: {{input: 0, output: 1000, max_output: 100}}
evaluations: {{metrics: [{{metric: contains, values: [Ann]}}]}}
test_cases:
  - {{name: one, input: "Who runs Orion?"}}
  - {{name: two, input: "Who leads Orion?"}}
  - {{name: three, input: "Who owns Orion?"}}
"""
OWN, TOOLS = 0.01, 0.1
"""USD: a call of the agent's model and one of its tool's, 100 tokens each."""

pytest.importorskip("graphrag", reason="needs the extra graphrag")


def answer(request: ServerRequest) -> Reply:
    """As the agent ask the tool, then answer; as the tool's model answer."""
    last = request.body["messages"][-1]
    calls: tuple[ToolCall, ...] = ()
    if request.body.get("tools") and last["role"] != "tool":
        arguments = json.dumps({"query": last["content"]})
        calls = (ToolCall(id="c1", name="graph", arguments=arguments),)
    text = "" if calls else "Ann runs it."
    return Reply(text=text, tool_calls=calls, prompt_tokens=1, completion_tokens=100)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model behind the agent and behind its tool."""
    with ModelServer() as running:
        running.reply(None, answer, when=lambda request: "messages" in request.body)
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent whose graph is made without a model, where the process now runs."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Ann Lee runs Orion. Bob Ray sails.", encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT.format(url=server.url), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.heavy
def test_the_answer_of_a_tool_costs_what_its_own_model_does(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls of the agent's model and those of its graph search are told apart, and together."""
    assert main(["chat", "-m", "Who runs Orion?", "--json"]) == 0
    turn = json.loads(capsys.readouterr().out)
    assert turn["spent_by_agent"]["calls"] == 2
    assert turn["spent_by_agent"]["cost"] == pytest.approx(2 * OWN)
    assert turn["spent_by_tools"]["calls"] == 1
    assert turn["spent_by_tools"]["cost"] == pytest.approx(TOOLS)
    assert turn["spent"]["cost"] == pytest.approx(2 * OWN + TOOLS)

    assert main(["chat", "-m", "Who runs Orion?"]) == 0
    out, err = capsys.readouterr()
    assert out == "Ann runs it.\n"
    assert "(3 calls, 3 tokens in, 300 out, $0.1200, " in err
    assert "(of these its tools: 1 call, 1 tokens in, 100 out, $0.1000)" in err


@pytest.mark.heavy
def test_a_test_stops_at_its_cap_and_reports_what_it_has(
    project: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 5 before the call that could pass it, in answers, tools and variants alike."""
    whole = 3 * (2 * OWN + TOOLS)
    words = ["test", "--json", "--parallel", "1", "--no-history"]
    assert main(words) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["spent"]["cost"] == pytest.approx(whole)

    assert main([*words, "--max-cost", "0.245"]) == 5
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["counts"]["passed"] == 2
    assert run["counts"]["not run"] == 1
    assert run["spent"]["cost"] == pytest.approx(whole * 2 / 3)
    assert "--limit" in run["stopped"]

    assert main([*words, "--max-cost", "0.2"]) == 5  # comes while the tool is to answer
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["counts"]["passed"], run["counts"]["not run"]) == (1, 2)
    assert run["spent"]["cost"] == pytest.approx(whole / 3 + OWN)

    sides = ["--compare", "graphrag.search_mode=local", "--compare", "graphrag.search_mode=global"]
    assert main([*words, *sides, "--max-cost", "0.5"]) == 5
    first, second = json.loads(capsys.readouterr().out)["runs"]
    assert (first["counts"]["passed"], first["stopped"]) == (3, None)
    assert second["counts"]["not run"] > 0
    assert first["spent"]["cost"] + second["spent"]["cost"] <= 0.5

    text = (project / "agent.yaml").read_text("utf-8")
    (project / "agent.yaml").write_text(
        text.replace("execution:\n", "execution:\n  max_cost: 0.245\n"), encoding="utf-8"
    )
    asked = server.counts.total.calls
    assert main(words) == 5
    assert server.counts.total.calls - asked <= 7


def test_a_cap_that_cannot_hold_is_refused_first(
    project: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model without a price under a cap is a configuration error: agent, tool or judge."""
    text = (project / "agent.yaml").read_text("utf-8")
    for model in ("chatty", "thinker"):
        changed = text.replace(f"    {model}:", "    other:")
        (project / "agent.yaml").write_text(changed, encoding="utf-8")
        assert main(["test", "--max-cost", "1"]) == 2
        told = capsys.readouterr().err
        assert f"'{model}' is not known" in told
        assert "agent.yaml:" in told
    assert server.counts.total.calls == 0
