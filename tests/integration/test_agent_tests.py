"""``holodeck test`` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import holodeck
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
    text = AGENT.replace("expected_sources: [ann.txt]", "expected_sources: [nobody.txt]")
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
        ("name: hydra", "name: orion", "several test cases are named orion"),
    ],
    ids=["no such tool", "nothing to compare", "no judge", "same name"],
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
