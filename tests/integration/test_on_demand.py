"""Searching an index that is not there yet: the price is said, and on a terminal agreed on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holodeck.cli import main
from holodeck.testing import ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.slow]

AGENT = """\
name: analyst
model: {{provider: openai, name: gpt-4o-mini, api_base: "{url}", api_key: k}}
tools:
  - {{name: plain, type: vectorstore, source: docs}}
execution: {{confirm_above: {above}}}
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an agent that asks about any price, where the process now runs."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Ann Lee runs Orion.", encoding="utf-8")
    write_agent(tmp_path, server, above=0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_agent(project: Path, server: ModelServer, *, above: float) -> None:
    agent = AGENT.format(url=server.url, above=above)
    (project / "agent.yaml").write_text(agent, encoding="utf-8")


def on_terminal(answer: str) -> tuple[int, str, str]:
    """Search on a terminal where ``answer`` is typed; return code, stdout and what it showed."""
    ours, theirs = pty.openpty()
    shown = bytearray()
    reading = threading.Thread(target=read_all, args=(ours, shown))
    os.write(ours, answer.encode())
    with subprocess.Popen(
        [sys.executable, "-m", "holodeck", "search", "Who runs Orion?"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        encoding="utf-8",
    ) as child:
        os.close(theirs)
        reading.start()
        out, _ = child.communicate(timeout=120)
    reading.join()
    os.close(ours)
    return child.returncode, out, shown.decode("utf-8", "replace")


def read_all(terminal: int, into: bytearray) -> None:
    """Read what a terminal shows until nobody has it open any more."""
    while True:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side is closed
            return
        if not read:
            return
        into += read


def test_a_terminal_is_asked_and_may_refuse(project: Path, server: ModelServer) -> None:
    """The estimate stands above the question; no means that nothing is asked or written."""
    code, out, shown = on_terminal("n\n")

    assert (code, out) == (3, "")
    assert "plain: will be built (there is no index yet)" in shown
    assert "cost: $" in shown
    assert "Build it?" in shown
    assert "--no-index" in shown
    assert server.requests == []


def test_a_terminal_that_agrees_gets_its_answer(project: Path) -> None:
    """Yes builds and answers; the next search has nothing to ask."""
    code, out, _ = on_terminal("y\n")
    again = on_terminal("")

    assert code == 0
    assert "Ann Lee runs Orion." in out
    assert again[0] == 0
    assert "Build it?" not in again[2]


def test_a_small_price_is_not_asked_about(project: Path, server: ModelServer) -> None:
    """Below ``execution.confirm_above`` the estimate is said and the build begins."""
    write_agent(project, server, above=1)
    code, _, shown = on_terminal("")

    assert code == 0
    assert "cost: $" in shown
    assert "Build it?" not in shown


def test_elsewhere_the_estimate_is_said_and_the_cap_holds(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program is never asked: its search builds, or stops at ``max_cost``."""
    assert main(["search", "Who runs Orion?"]) == 0
    assert "plain: will be built (there is no index yet)" in capsys.readouterr().err
    agent = project / "agent.yaml"
    text = agent.read_text("utf-8").replace("confirm_above: 0", "max_cost: 0.00000000001")
    agent.write_text(text, encoding="utf-8")
    (project / "docs" / "b.txt").write_text("Bob Ray runs Vega.", encoding="utf-8")

    assert main(["search", "Who runs Vega?"]) == 5
    assert "stopped at the cost cap" in capsys.readouterr().err


def test_no_index_builds_nothing(
    project: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an index that is an error, with a stale one a warning."""
    assert main(["search", "--no-index", "Who runs Orion?"]) == 3
    assert server.requests == []
    assert main(["index"]) == 0
    (project / "docs" / "a.txt").write_text("Bob Ray runs Orion.", encoding="utf-8")
    capsys.readouterr()

    assert main(["search", "--no-index", "Who runs Orion?"]) == 0
    out, err = capsys.readouterr()
    assert "Ann Lee" in out
    assert "warning: the index is stale (the documents changed)" in err


def test_one_cap_is_for_all_tools_of_a_run(project: Path, server: ModelServer) -> None:
    """What the first tool's build took is not there for the second."""
    agent = project / "agent.yaml"
    text = agent.read_text("utf-8")
    other = text.replace(
        "  - {name: plain, type: vectorstore, source: docs}\n",
        "  - {name: plain, type: vectorstore, source: docs}\n"
        "  - {name: more, type: vectorstore, source: docs, chunk_size: 60, chunk_overlap: 0}\n",
    ).replace("confirm_above: 0", "prices: {text-embedding-3-small: {input: 1000}}")
    agent.write_text(other, encoding="utf-8")
    (project / "docs" / "b.txt").write_text(
        " ".join(f"Line {n}." for n in range(150)), encoding="utf-8"
    )

    assert main(["index", "--max-cost", "1.2"]) == 5
    assert (project / ".holodeck" / "vectorstore" / "plain" / "index.meta").exists()
    assert not (project / ".holodeck" / "vectorstore" / "more" / "index.meta").exists()
    assert main(["index", "--max-cost", "1.2"]) == 0


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "much"])
def test_a_cap_is_an_amount(project: Path, amount: str) -> None:
    """Nothing, less than nothing and no number are no caps."""
    assert main(["index", "--max-cost", amount]) == 2
