"""Cases, put to an agent over a loopback server and judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from holodeck.cli.case_lines import case_line
from holodeck.config.cases import load_cases
from holodeck.config.loader import LoadedAgent, load_agent
from holodeck.errors import ConfigError, SearchError
from holodeck.lib.contracts import ToolCall
from holodeck.lib.resources import Resources
from holodeck.lib.test_runner.agent_factory import Agent, create_agent
from holodeck.lib.test_runner.conversation import Conversation
from holodeck.lib.test_runner.executor import find_case_problems, metrics_of, run_cases
from holodeck.lib.test_runner.history import keep_run
from holodeck.lib.test_runner.reporters import REPORTERS, write_report
from holodeck.lib.test_runner.scores import RunResult
from holodeck.lib.test_runner.turns import Event
from holodeck.lib.test_runner.variants import make_variants
from holodeck.models.evaluation import Evaluations, Metric
from holodeck.models.test_case import Case
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest

NONE = Evaluations()


def answer(request: ServerRequest) -> str | Reply:
    """Add the numbers of a sum by the tool; say anything else back."""
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return f"It is {last['content']}."
    if last["content"] == "escape":
        return "Hi\x1b"
    if "+" in last["content"]:
        first, second = last["content"].rstrip("?").split("+")
        arguments = json.dumps({"first": int(first), "second": int(second)})
        return Reply(tool_calls=(ToolCall(id="c1", name="add", arguments=arguments),))
    return f"You said: {last['content']}"


@pytest.fixture
async def agent(
    write_agent: Callable[..., LoadedAgent], server: ModelServer
) -> AsyncIterator[Agent]:
    """An agent that can add."""
    server.reply("chat", answer)
    made = create_agent(write_agent())
    yield made
    await made.close()


def sums(count: int) -> list[Case]:
    """Return cases of which every third expects a wrong sum and every fifth another tool."""
    return [
        Case(
            name=f"sum {n}",
            input=f"{n}+{n}?",
            ground_truth=str(2 * n + (n % 3 == 0)),
            expected_tools=["knowledge" if n % 5 == 0 else "add"],
            evaluations=(Metric(metric="numeric"), Metric(metric="f1")),
        )
        for n in range(count)
    ]


async def test_verdicts_do_not_depend_on_how_many_run_at_once(agent: Agent) -> None:
    """A hundred cases side by side say what they say one after the other, in the same order."""
    cases = sums(100)
    one = await run_cases(agent, cases, NONE, parallel=1)
    many = await run_cases(agent, cases, NONE, parallel=20)
    assert [case.name for case in many.cases] == [case.name for case in cases]
    assert [case.verdict for case in many.cases] == [case.verdict for case in one.cases]
    wrong = sum(n % 3 == 0 or n % 5 == 0 for n in range(100))
    assert (one.count("passed"), one.count("failed")) == (100 - wrong, wrong)


async def test_each_kind_of_end_has_its_verdict(agent: Agent, server: ModelServer) -> None:
    """A failure, a missing answer, nothing to pass by, and a conversation that breaks off."""
    server.fault(Fault(kind="chat", containing="forbidden", code="content_filter"))
    cases = [
        Case(name="wrong", input="Hi", evaluations=(Metric(metric="contains", values=("no",)),)),
        Case(name="refused", input="forbidden"),
        Case(name="graded", input="Hi", ground_truth="Hi", evaluations=(Metric(metric="f1"),)),
        Case(
            name="talk",
            turns=[{"input": "One"}, {"input": "forbidden"}, {"input": "Three"}],
        ),
    ]
    run = await run_cases(agent, cases, NONE)
    assert [case.verdict for case in run.cases] == ["failed", "error", "reported", "error"]
    assert [len(case.turns) for case in run.cases] == [1, 1, 1, 2]
    assert "content" in (run.cases[1].turns[0].error or "")


class Slow(Conversation):
    """A conversation that fails after a while."""

    async def _events(self, question: str) -> AsyncGenerator[Event, None]:
        await asyncio.sleep(0.05)
        raise SearchError("no answer in time")
        yield


class SlowAgent(Agent):
    """An agent that never answers."""

    def conversation(self) -> Conversation:
        """Begin one."""
        return Slow(self.tools)


async def test_a_failed_answer_took_its_time(agent: Agent) -> None:
    """The time until a turn failed counts in its case, in every report and in the mean."""
    slow = SlowAgent(agent.loaded, agent.tools, Resources(environ={}))
    run = await run_cases(slow, [Case(name="a", input="?")], NONE)
    told = json.loads(write_report("json", [run]))["runs"][0]
    assert run.cases[0].verdict == "error"
    assert run.cases[0].seconds >= 0.04
    assert run.seconds_a_case == run.cases[0].seconds
    assert told["cases"][0]["turns"][0]["seconds"] >= 0.04
    await slow.close()


class Odd(Conversation):
    """A conversation that has a mistake in it."""

    async def _events(self, question: str) -> AsyncGenerator[Event, None]:
        raise ZeroDivisionError("oops")
        yield


class OddAgent(Agent):
    """An agent whose first conversation is odd."""

    is_new = True

    def conversation(self) -> Conversation:
        """Begin one."""
        is_new, self.is_new = self.is_new, False
        return Odd(self.tools) if is_new else super().conversation()


async def test_a_mistake_in_one_case_leaves_the_others_their_verdicts(agent: Agent) -> None:
    """It is an error of that case, named by its kind."""
    odd = OddAgent(agent.loaded, agent.tools, Resources(environ={}))
    run = await run_cases(odd, sums(3)[1:], NONE, parallel=1)
    assert [case.verdict for case in run.cases] == ["error", "passed"]
    assert run.cases[0].turns[0].error == "unexpected ZeroDivisionError: oops"
    await odd.close()


async def test_each_of_several_like_metrics_is_told(agent: Agent) -> None:
    """The second of a name has a number of its own; the line of a case names all that failed."""
    wanted = ("You", "nobody", "nothing")
    metrics = tuple(Metric(metric="contains", values=(each,)) for each in wanted)
    run = await run_cases(agent, [Case(name="a", input="Hi", evaluations=metrics)], NONE)
    assert run.labels == ("contains", "contains 2", "contains 3")
    assert [run.mean(label) for label in run.labels] == [1.0, 0.0, 0.0]
    line = case_line(run.cases[0])
    assert "contains 2 0.00 < 1: missing: 'nobody'; contains 3 0.00" in line


def test_what_a_case_expects_is_always_looked_at() -> None:
    """Expected tools and sources are metrics without being listed; a case's own list goes first."""
    evaluations = Evaluations(
        metrics=(Metric(metric="f1", threshold=0.5), Metric(metric="regex", pattern="x"))
    )
    plain, own = (
        Case(name="a", input="?", expected_sources=("a.txt",)),
        Case(name="b", input="?", ground_truth="x", evaluations=(Metric(metric="bleu"),)),
    )
    assert [m.metric for m in metrics_of(plain.all_turns[0], evaluations)] == [
        "regex",
        "source_recall",
    ]
    assert [m.metric for m in metrics_of(own.all_turns[0], evaluations)] == ["bleu"]


def test_a_case_that_cannot_be_judged_is_found_before_it_runs() -> None:
    """A tool that there is not and a comparison with nothing are named."""
    case = Case(
        name="a",
        input="?",
        expected_tools=["serach"],
        evaluations=(Metric(metric="f1"),),
    )
    problems = find_case_problems(case, NONE, ["search"])
    assert "'serach'" in problems[0]
    assert "ground_truth" in problems[1]


@pytest.mark.parametrize(
    ("truth", "problem"),
    [
        ("27 ships", None),
        ("1 000 000", None),
        ("1e6", None),
        ("five", "holds none"),
        ("27 July 1866", "holds 2"),
        ("27.07.1866", "holds none"),
        ("12,5", "write 12.5, not 12,5"),
    ],
)
def test_numbers_are_compared_with_exactly_one(truth: str, problem: str | None) -> None:
    """A ground truth without a number, with several or an ambiguous one is found before the run."""
    numeric = (Metric(metric="numeric"),)
    case = Case(name="a", input="?", ground_truth=truth, evaluations=numeric)
    problems = find_case_problems(case, NONE, [])
    assert len(problems) == (problem is not None)
    assert problem is None or problem in problems[0]


@pytest.mark.parametrize(
    "blank",
    [
        {"name": " ", "input": "?"},
        {"name": "a\nb", "input": "?"},
        {"name": "a", "input": " \n"},
        {"name": "a", "turns": [{"input": "  "}]},
        {"name": "a", "input": "?", "ground_truth": " "},
        {"name": "a", "input": "?", "expected_sources": [""]},
        {"name": "a", "input": "?", "evaluations": [{"metric": "contains", "values": [""]}]},
    ],
)
def test_a_case_says_something_everywhere(blank: dict[str, object]) -> None:
    """What is blank, or would break a report's line, is refused when it is read."""
    with pytest.raises(ValueError, match=r"blank|one line|at least 1"):
        Case.model_validate(blank)


def test_no_call_has_no_arguments() -> None:
    """Arguments of a call that must not happen are refused, never passed over."""
    tool = {"name": "add", "count": 0, "arguments": {"first": 1}}
    with pytest.raises(ValueError, match="arguments have no effect with count: 0"):
        Case.model_validate({"name": "a", "input": "?", "expected_tools": [tool]})


async def test_reports_say_the_same_in_every_form(agent: Agent) -> None:
    """JSON, Markdown and JUnit agree on the counts; control characters and marks do no harm."""
    cases = [
        *sums(4),
        Case(
            name="odd | <b>",
            input="escape",
            evaluations=(Metric(metric="equality"),),
            ground_truth="x",
        ),
    ]
    run = await run_cases(agent, cases, NONE)
    told = json.loads(write_report("json", [run]))["runs"][0]
    suite = ET.fromstring(write_report("junit", [run])).find("testsuite")  # our own text
    page = write_report("markdown", [run])
    assert suite is not None
    assert told["counts"]["failed"] == int(suite.attrib["failures"]) == run.count("failed")
    assert len(suite.findall("testcase")) == 5
    assert f"{run.count('passed')} of 5 passed" in page
    assert "| odd \\| &lt;b>" in page
    assert set(REPORTERS) == {"json", "markdown", "junit"}


async def test_runs_are_kept_and_never_read_as_documents(agent: Agent, tmp_path: Path) -> None:
    """Each run is one file in a folder that is marked as the product's own."""
    run = await run_cases(agent, sums(1), NONE)
    first, second = keep_run([run], tmp_path), keep_run([run], tmp_path)
    assert first != second
    assert json.loads(first.read_text("utf-8"))["runs"][0]["agent"] == "analyst"
    assert (first.parent / ".holodeck-folder").is_file()


def test_a_comparison_changes_one_setting_of_every_search_tool(
    write_agent: Callable[..., LoadedAgent],
) -> None:
    """Another engine leaves what only the first one knows; a value that cannot be is an error."""
    loaded = write_agent()
    graph, wide = make_variants(loaded, ["graphrag", "top_k=10"])
    assert (graph.label, wide.label) == ("engine=graphrag", "top_k=10")
    assert graph.agent.config.vectorstore_tools[0].engine == "graphrag"
    assert wide.agent.config.vectorstore_tools[0].top_k == 10
    assert loaded.config.vectorstore_tools[0].top_k == 5
    for wrong, why in (
        ("fast", "engine must be 'default' or 'graphrag', not 'fast'"),
        ("top_k=many", "top_k must be a whole number, not 'many'"),
        ("top_n=3", "unknown key 'top_n'; did you mean 'top_k'?"),
        ("graphrag.ranking=graph", "graphrag"),
    ):
        with pytest.raises(ConfigError, match="cannot be compared with") as caught:
            make_variants(loaded, [wrong])
        assert why in str(caught.value).partition(": ")[2]


def test_a_comparison_stands_side_by_side() -> None:
    """The report of several runs begins with a table of both."""
    runs = [RunResult(agent="a", cases=(), variant=f"top_k={n}") for n in (1, 2)]
    assert write_report("markdown", runs).startswith("# Comparison\n\n|  | top_k=1 | top_k=2 |")


CASES = """\
test_cases:
  - name: sum
    input: 1+1?
    expected_tools: [add, {{name: add, count: 1}}]
  - name: talk
    turns:
      - input: Hi
"""


def test_cases_come_from_both_files(
    write_agent: Callable[..., LoadedAgent], tmp_path: Path
) -> None:
    """Mistakes in the second file are placed there, names must differ, and none at all is told."""
    loaded = write_agent()
    with pytest.raises(ConfigError, match="no test cases"):
        load_cases(loaded)
    text = loaded.file.read_text("utf-8") + "test_cases_file: cases.yaml\n"
    loaded.file.write_text(text, encoding="utf-8")
    cases = tmp_path / "cases.yaml"
    cases.write_text(CASES.format(), encoding="utf-8")
    assert [case.name for case in load_cases(load_agent(loaded.file, environ={}))] == [
        "sum",
        "talk",
    ]
    cases.write_text(CASES.format().replace("name: talk", "name: sum"), encoding="utf-8")
    with pytest.raises(ConfigError, match="several test cases are named sum"):
        load_cases(load_agent(loaded.file, environ={}))
    cases.write_text("test_cases:\n  - name: x\n    inputs: y\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"cases\.yaml:3: test_cases\[0\]\.inputs.*'input'"):
        load_cases(load_agent(loaded.file, environ={}))
