"""``holodeck test`` from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import holodeck
from holodeck.cli import main
from holodeck.lib.contracts import ToolCall
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest
from holodeck.testing.project import write_documents

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
AGENT = """\
name: reader
model: {provider: embedded}
tools:
  - {name: knowledge, source: docs, top_k: 3}
evaluations:
  metrics:
    - metric: source_precision
test_cases:
  - name: orion
    input: Who runs the Orion project?
    expected_tools: [knowledge]
    expected_sources: [ann.txt]
    evaluations:
      - {metric: contains, values: [Ann Lee]}
  - name: hydra
    input: Who sold the Hydra station?
    expected_sources: ["log.pdf, page 2"]
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command in a folder with an agent and its documents."""
    write_documents(tmp_path)
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "holodeck", "test", *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return start


@pytest.mark.heavy
def test_cases_pass_without_a_model_and_every_report_agrees(run: Run, tmp_path: Path) -> None:
    """Exit code 0, a table on stdout, a report in the form of the file's name, and a kept run."""
    done = run("--output", "report.xml")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 passed" in done.stdout
    assert "passed   orion" in done.stderr
    assert len(ET.parse(tmp_path / "report.xml").findall(".//testcase")) == 2
    (kept,) = (tmp_path / ".holodeck" / "runs").glob("*.json")
    assert json.loads(kept.read_text("utf-8"))["runs"][0]["counts"]["passed"] == 2


@pytest.mark.heavy
def test_engines_are_compared_on_the_same_cases(run: Run, tmp_path: Path) -> None:
    """Both indexes are built, and the two runs stand side by side; a failed case gives code 1."""
    text = AGENT.replace("values: [Ann Lee]", "values: [Nobody]")
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    done = run("--compare", "default", "--compare", "graphrag", "--json", "--no-history")
    assert done.returncode == 1, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [each["variant"] for each in runs] == ["engine=default", "engine=graphrag"]
    assert [each["counts"]["failed"] for each in runs] == [1, 1]
    assert (tmp_path / ".holodeck" / "graphrag" / "knowledge" / "index.meta").is_file()
    assert not (tmp_path / ".holodeck" / "runs").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("expected_tools: [knowledge]", "expected_tools: [knowlege]", "'knowlege'"),
        ("metric: contains, values: [Ann Lee]", "metric: f1", "ground_truth"),
        ("metric: contains, values: [Ann Lee]", "metric: relevancy", "language model"),
        ("[ann.txt]", "[docs/ann.txt]", "write 'ann.txt'"),
        ("name: hydra", "name: orion", "several test cases are named orion"),
    ],
    ids=["no such tool", "nothing to compare", "no judge", "no such source", "same name"],
)
def test_a_case_that_cannot_run_is_a_configuration_error(
    run: Run, tmp_path: Path, old: str, new: str, told: str
) -> None:
    """Exit code 2 before anything is indexed."""
    (tmp_path / "agent.yaml").write_text(AGENT.replace(old, new), encoding="utf-8")
    done = run()
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert not (tmp_path / ".holodeck" / "vectorstore").exists()


def test_force_builds_first_and_no_index_builds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--force`` publishes anew what is up to date; without an index ``--no-index`` is exit 3."""
    write_documents(tmp_path)
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    record = tmp_path / ".holodeck" / "vectorstore" / "knowledge" / "index.meta"
    assert main(["test", "--no-index"]) == 3
    assert "holodeck index" in capsys.readouterr().err
    assert main(["test"]) == 0
    first = record.read_bytes()
    assert main(["test"]) == 0
    assert record.read_bytes() == first
    assert main(["test", "--force"]) == 0
    forced = record.read_bytes()
    assert forced != first
    (tmp_path / "docs" / "ann.txt").write_text("Somebody else.", encoding="utf-8")
    assert main(["test", "--no-index"]) == 0
    assert record.read_bytes() == forced
    assert "stale" in capsys.readouterr().err


MODEL_AGENT = """\
name: reader
model: {{provider: openai, name: any, api_base: "{url}", api_key: secret}}
execution: {{max_retries: 0}}
tools:
  - {{name: knowledge, source: docs, embedding_model: {{provider: embedded}}}}
test_cases_file: cases.yaml
"""
PEOPLE = ("Ann Lee", "Bob Ray", "Dora Nes", "Erik Dahl", "Finn Moe")
FILES = ("ann.txt", "bob.md", "crew.csv", "crew.csv", "log.pdf")


def hundred_cases() -> list[dict[str, object]]:
    """Return cases of which every fourth expects a wrong name and every tenth gets no answer."""
    return [
        {
            "name": f"case {n}",
            "input": f"What does {PEOPLE[n % 5]} do?" + (" forbidden" if n % 10 == 9 else ""),
            "expected_tools": [{"name": "knowledge", "count": 1}],
            "expected_sources": [FILES[n % 5]],
            "ground_truth": PEOPLE[(n + (n % 4 == 3)) % 5],
            "evaluations": [{"metric": "contains"}, {"metric": "f1"}],
        }
        for n in range(100)
    ]


def look_up(request: ServerRequest) -> str | Reply:
    """Ask the tool, then say who was asked about."""
    said = request.body["messages"]
    if said[-1]["role"] == "tool":
        return next(
            name for name in PEOPLE if name in said[-2]["tool_calls"][0]["function"]["arguments"]
        )
    arguments = json.dumps({"query": said[-1]["content"]})
    return Reply(tool_calls=(ToolCall(id="c1", name="knowledge", arguments=arguments),))


@pytest.mark.heavy
def test_a_hundred_cases_say_the_same_at_once_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verdicts, scores, counts of calls and of tokens are those of a run in sequence."""
    write_documents(tmp_path)
    monkeypatch.chdir(tmp_path)
    cases = {"test_cases": hundred_cases()}
    (tmp_path / "cases.yaml").write_text(json.dumps(cases), encoding="utf-8")
    seen: list[dict[str, Any]] = []  # Any: JSON
    with ModelServer(latency={"chat": 0.01}) as server:
        server.reply("chat", look_up)
        server.fault(Fault(kind="chat", containing="forbidden", code="content_filter"))
        text = MODEL_AGENT.format(url=server.url)
        (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
        for parallel in ("1", "20"):
            assert main(["test", "--parallel", parallel, "--json", "--no-history"]) == 1
            (run,) = json.loads(capsys.readouterr().out)["runs"]
            seen.append(
                {
                    "verdicts": [(case["name"], case["verdict"]) for case in run["cases"]],
                    "scores": [case["turns"][0]["scores"] for case in run["cases"]],
                    "spent": [case["spent"]["input_tokens"] for case in run["cases"]],
                    "calls": server.counts["chat"].calls,
                }
            )
            at_once = server.counts["chat"].in_flight_max
            server.reset_counts()
    assert seen[0] == seen[1]
    assert at_once > 1
    wrong = {f"case {n}" for n in range(100) if n % 4 == 3 and n % 10 != 9}
    refused = {f"case {n}" for n in range(100) if n % 10 == 9}
    by_verdict = {
        verdict: {name for name, each in seen[1]["verdicts"] if each == verdict}
        for verdict in ("passed", "failed", "error")
    }
    assert (by_verdict["failed"], by_verdict["error"]) == (wrong, refused)
    assert len(by_verdict["passed"]) == 100 - len(wrong) - len(refused)


ASKING = """\
name: talker
model: {{provider: openai, name: m, api_base: "{url}", api_key: k}}
test_cases:
  - {{name: one, input: "One?", ground_truth: one, evaluations: [{{metric: contains}}]}}
  - {{name: two, input: "Two?", ground_truth: one, evaluations: [{{metric: contains}}]}}
  - {{name: three, input: "Three?", ground_truth: one, evaluations: [{{metric: contains}}]}}
"""


def test_a_variant_that_cannot_be_built_leaves_the_others_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its cases are not run, and why is said; the exit code is that of the error."""
    write_documents(tmp_path)
    monkeypatch.chdir(tmp_path)
    with ModelServer(faults=[Fault(status=401)]) as server:
        model = f'{{provider: openai, name: m, api_base: "{server.url}", api_key: wrong}}'
        text = AGENT.replace(", top_k: 3}", f", graphrag: {{indexing_model: {model}}}}}")
        text = text.replace("source: docs", "source: docs, engine: graphrag")
        text = text.replace(", graphrag:", ", embedding_model: {provider: embedded}, graphrag:")
        (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
        words = [
            "--compare",
            "default",
            "--compare",
            "graphrag",
            "--compare",
            "graphrag.max_gleanings=0",
        ]
        assert main(["test", *words, "--json", "--output", "r.xml"]) == 3
    ran, failed, never_begun = json.loads(capsys.readouterr().out)["runs"]
    assert (ran["stopped"], ran["counts"]["passed"]) == (None, 2)
    assert failed["counts"]["not run"] == never_begun["counts"]["not run"] == 2
    assert "key" in failed["stopped"]
    assert failed["stopped"].endswith("2 of 2 test cases did not end, and nothing is said of them")
    suites = ET.parse(tmp_path / "r.xml").findall("testsuite")
    assert [suite.get("skipped") for suite in suites] == ["0", "2", "2"]
    assert len(list((tmp_path / ".holodeck" / "runs").glob("*.json"))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="this system has other signals")
@pytest.mark.parametrize("form", ["words", "json"])
def test_an_interrupted_run_reports_the_cases_that_ended(tmp_path: Path, form: str) -> None:
    """Table or document, report and kept run hold them; the others are not run; exit code 130."""
    with ModelServer() as server:
        server.reply("chat", "one")
        server.fault(Fault(containing="Three?", hang=60))
        (tmp_path / "agent.yaml").write_text(ASKING.format(url=server.url), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "holodeck", "test", "--parallel", "1", "--output", "r.xml"]
            + ["--json"] * (form == "json"),
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        server.wait_for(3, timeout=60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert "Traceback" not in err
    if form == "json":
        (shown,) = json.loads(out)["runs"]
        assert [case["verdict"] for case in shown["cases"]] == ["passed", "passed", "not run"]
    else:
        assert "2 of 3 passed" in out
        assert "1 of 3 test cases did not end" in err
    cases = ET.parse(tmp_path / "r.xml").findall(".//testcase")
    assert [case.find("skipped") is not None for case in cases] == [False, False, True]
    (kept,) = (tmp_path / ".holodeck" / "runs").glob("*.json")
    (run,) = json.loads(kept.read_text("utf-8"))["runs"]
    assert run["stopped"].startswith("interrupted; 1 of 3 test cases")
