"""What conversations and tests take: tokens and money of the agent, its tools and the judge."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from xml.etree import ElementTree as ET

import pytest

from holodeck.config.loader import LoadedAgent
from holodeck.errors import RateLimitError
from holodeck.lib.contracts import Spent, ToolCall, Usage
from holodeck.lib.spending import said_spent, total, unpriced_models
from holodeck.lib.test_runner.agent_factory import Agent, create_agent
from holodeck.lib.test_runner.executor import run_cases
from holodeck.lib.test_runner.reporters import write_report
from holodeck.lib.test_runner.turns import ToolCalled, turn_as_json
from holodeck.models.evaluation import Evaluations, Metric
from holodeck.models.test_case import Case
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest

AGENT = """\
name: analyst
model: {{provider: openai, name: any, api_base: "{url}", api_key: secret}}
execution:
  max_retries: {retries}
  prices:
    any: {{input: 1.0, output: 10.0, max_output: 100}}
    text-embedding-3-small: {{input: 0.5}}
tools:
  - name: knowledge
    source: docs
    embedding_model: {{provider: openai, name: text-embedding-3-small, api_base: "{url}"}}
  - {{name: add, type: function, function: "sums:add"}}
"""
CALL = 0.00001 + 0.001
"""USD: 10 tokens in at 1 USD and 100 out at 10 USD a million."""


def priced(text: str = "", *calls: ToolCall) -> Reply:
    """Return a reply that took 10 tokens in and 100 out."""
    return Reply(text=text, tool_calls=calls, prompt_tokens=10, completion_tokens=100)


def answer(request: ServerRequest) -> Reply:
    """Look each question up, then answer; judge what is to be judged."""
    last = request.body["messages"][-1]
    if "Grade how" in request.text:
        return priced('{"score": 10}')
    if last["role"] == "tool":
        return priced("That is it.")
    query = ToolCall(id="c1", name="knowledge", arguments=json.dumps({"query": last["content"]}))
    return priced("", query)


@pytest.fixture
async def agent(
    write_agent: Callable[..., LoadedAgent], server: ModelServer
) -> AsyncIterator[Agent]:
    """An agent whose tool embeds every question, its index built."""
    server.reply("chat", answer)
    made = create_agent(write_agent(AGENT))
    await made.initialize()
    yield made
    await made.close()


async def test_a_turn_says_what_agent_and_tools_took(agent: Agent) -> None:
    """Two calls of the agent, one embedding by its tool; each by itself, and together."""
    turn = await agent.conversation().ask("Orion")
    tokens = total(turn.tools_spent).usage.input_tokens
    assert tokens > 0
    assert turn.tool_uses[0].spent == turn.tools_spent
    assert total(turn.agent_spent) == Spent(
        calls=2, usage=Usage(input_tokens=20, output_tokens=200), cost=2 * CALL
    )
    assert [row.purpose for row in turn.spent] == ["agent", "embed"]
    told = turn_as_json(turn)
    assert told["spent"]["cost"] == pytest.approx(2 * CALL + tokens * 0.5e-6)
    assert told["spent_by_agent"]["cost"] == pytest.approx(2 * CALL)
    assert told["tool_uses"][0]["spent"]["input_tokens"] == tokens


async def test_a_price_that_nobody_knows_is_no_zero(
    write_agent: Callable[..., LoadedAgent], server: ModelServer
) -> None:
    """Tokens are told, the cost is null, and the model is named."""
    server.reply("chat", priced("Hello."))
    made = create_agent(write_agent())
    turn = await made.conversation().ask("Hello?")
    await made.close()
    assert turn_as_json(turn)["spent"]["cost"] is None
    assert said_spent(total(turn.spent)) == "1 call, 10 tokens in, 100 out, cost unknown"
    assert unpriced_models(turn.spent) == ("openai/any",)


async def test_a_failed_and_a_cancelled_turn_cost_what_they_did(
    agent: Agent, server: ModelServer
) -> None:
    """The call that was answered before is counted, and the next turn begins from nothing."""
    conversation = agent.conversation()
    server.fault(Fault(kind="chat", containing="runs the Orion", status=429))
    with pytest.raises(RateLimitError):
        await conversation.ask("Orion")
    assert [(row.purpose, row.spent.calls) for row in conversation.last_spent] == [
        ("agent", 1),
        ("embed", 1),
    ]
    server.heal()
    stream = conversation.stream("Vega")
    assert isinstance(await anext(stream), ToolCalled)
    await stream.aclose()
    assert total(conversation.last_spent).cost == pytest.approx(CALL, abs=CALL / 10)
    await conversation.ask("Lyra")
    assert total(conversation.last_spent).calls == 3


def cases(count: int, *metrics: Metric) -> list[Case]:
    """Return cases that pass."""
    return [Case(name=f"case {n}", input=f"Orion {n}", evaluations=metrics) for n in range(count)]


CONTAINS = Metric(metric="contains", values=("That",))


async def test_a_run_says_what_each_case_and_the_judge_took(agent: Agent) -> None:
    """Judging is counted by itself; the sums are those of the cases, in every report."""
    judged = cases(3, CONTAINS, Metric(metric="relevancy", threshold=0.5))
    run = await run_cases(agent, judged, Evaluations(), judge=agent.judge(), parallel=3)
    assert run.pass_rate == 1.0
    assert [total(case.spent).calls for case in run.cases] == [3, 3, 3]
    assert total(run.judge_spent).cost == pytest.approx(3 * CALL)
    assert {row.purpose for row in run.judge_spent} == {"judge"}
    cost = total(run.spent).cost
    assert cost == pytest.approx(sum(total(case.spent).cost for case in run.cases))

    document = json.loads(write_report("json", [run]))["runs"][0]
    assert document["spent"]["cost"] == pytest.approx(cost)
    assert document["cases"][0]["spent"]["output_tokens"] == 200
    suite = ET.fromstring(write_report("junit", [run])).find("testsuite")
    assert suite is not None
    assert properties(suite)["cost"] == f"{cost:.6f}"
    assert properties(suite)["judge_calls"] == "3"
    assert [properties(case)["output_tokens"] for case in suite.findall("testcase")] == ["200"] * 3
    page = write_report("markdown", [run])
    assert "| verdict | case | contains | relevancy | tokens in | tokens out | cost |" in page
    assert "agent: 9 calls, " in page
    assert "judge: 3 calls, 30 tokens in, 300 out, $0.0030" in page


def properties(element: ET.Element) -> dict[str, str]:
    """Return the properties of a suite or a case of a JUnit report."""
    found = element.findall("properties/property")
    return {each.attrib["name"]: each.attrib["value"] for each in found}


async def test_a_comparison_sets_the_money_side_by_side(agent: Agent) -> None:
    """Pass rate, metrics, tokens, cost and latency, a column a run."""
    runs = [
        await run_cases(agent, cases(count, CONTAINS), Evaluations(), variant=f"top_k={count}")
        for count in (1, 2)
    ]
    table = write_report("markdown", runs).split("\n\n")[1]
    rows = {line.split("|")[1].strip(): line.split("|")[2:4] for line in table.splitlines()}
    assert [cell.strip() for cell in rows["pass rate"]] == ["100%", "100%"]
    assert [cell.strip() for cell in rows["tokens out"]] == ["200", "400"]
    assert [cell.strip()[:6] for cell in rows["cost"]] == ["$0.002", "$0.004"]
    assert {"passed", "contains", "tokens in", "seconds a case"} <= set(rows)


@pytest.mark.parametrize("parallel", [1, 4])
async def test_a_run_stops_before_the_call_that_could_pass_its_cap(
    agent: Agent, parallel: int
) -> None:
    """What is reported as spent stays below; cases that were cut or never begun are not run."""
    cap = 7.5 * CALL
    run = await run_cases(agent, cases(8, CONTAINS), Evaluations(), parallel=parallel, max_cost=cap)
    assert run.stopped is not None
    assert "cost cap" in run.stopped
    assert "--limit" in run.stopped
    assert 0 < total(run.spent).cost <= cap
    assert run.count("not run") == 8 - run.count("passed")
    assert run.count("not run") >= 4
    answered = sum(row.spent.calls for row in run.spent if row.purpose == "agent")
    assert answered >= 2 * run.count("passed")


async def test_the_judge_is_under_the_same_cap(agent: Agent) -> None:
    """An answer whose judgement could pass the cap is reported as cut, not as unjudged."""
    judged = cases(1, CONTAINS, Metric(metric="relevancy"))
    run = await run_cases(agent, judged, Evaluations(), judge=agent.judge(), max_cost=2.4 * CALL)
    (case,) = run.cases
    assert case.verdict == "not run"
    assert [score.label for score in case.turns[0].scores] == ["contains"]
