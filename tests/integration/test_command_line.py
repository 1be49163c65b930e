"""An agent's documents become an index and answers by nothing but commands."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import holodeck

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.xdist_group("command_line")]

AGENT = """\
name: analyst
model: {provider: embedded}
tools:
  - name: knowledge
    type: vectorstore
    engine: graphrag
    source: docs
"""
DOCUMENTS = {
    "ada.txt": "Ada Lovelace worked with Charles Babbage in London on the Analytical Engine.",
    "babbage.md": "Charles Babbage designed the Analytical Engine. He met Mary Somerville in Rome.",
    "empty.txt": "",
}
LOCAL = "Who worked with Charles Babbage?"


@dataclass(frozen=True, kw_only=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


def environment() -> dict[str, str]:
    """Return the variables under which a child finds the package under test."""
    return {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}


def run(folder: Path, *words: str) -> Done:
    """Run a command in ``folder``, as its user would."""
    done = subprocess.run(
        [sys.executable, "-m", "holodeck", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=100,
    )
    return Done(
        code=done.returncode, out=done.stdout.decode("utf-8"), err=done.stderr.decode("utf-8")
    )


def make_project(folder: Path) -> Path:
    """Write an agent and its documents."""
    (folder / "docs").mkdir(parents=True)
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True, kw_only=True)
class Indexed:
    """A project whose index was built, and what the build said."""

    folder: Path
    first: Done


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """Return a project with an index; tests read it and leave it as it is."""
    folder = make_project(tmp_path_factory.mktemp("indexed") / "project")
    return Indexed(folder=folder, first=run(folder, "index"))


@pytest.fixture
def edited(indexed: Indexed, tmp_path: Path) -> Iterator[Path]:
    """Return a copy of the project in which one document is new since the index."""
    folder = tmp_path / "copy"
    shutil.copytree(indexed.folder, folder)
    assert json.loads(run(folder, "status", "--json").out)["tools"][0]["up_to_date"]
    text = "Grace Hopper wrote a compiler in Philadelphia with Betty Holberton."
    (folder / "docs" / "hopper.txt").write_text(text, encoding="utf-8")
    yield folder


def test_index_says_what_it_did(indexed: Indexed) -> None:
    """Counts, losses and place on stdout; phases and steps on stderr."""
    done = indexed.first

    assert done.code == 0
    head, counts, skipped, reason, *_, place = done.out.splitlines()
    assert head == "knowledge: indexed"
    assert counts.startswith("  2 files, 2 documents, 2 text units, ")
    assert skipped == "  1 file skipped:"
    assert reason.startswith("    empty.txt: ")
    assert place == f"  index: {indexed.folder / '.holodeck' / 'graphrag' / 'knowledge'}"
    assert "extract" in done.err


def test_a_second_index_does_nothing(indexed: Indexed) -> None:
    """What is up to date is not built again, and the counts are told all the same."""
    done = run(indexed.folder, "index", "agent.yaml", "--json")

    (tool,) = json.loads(done.out)["tools"]
    assert (done.code, tool["built"], tool["up_to_date"]) == (0, False, True)
    assert tool["counts"]["files"] == 2
    assert list(tool["skipped"]) == ["empty.txt"]
    assert run(indexed.folder, "index").out.startswith("knowledge: up to date\n")


@pytest.mark.parametrize("mode", ["local", "global"])
def test_an_answer_names_its_sources(mode: str, indexed: Indexed) -> None:
    """Text for people and JSON for programs say the same; nothing else stands on stdout."""
    text = run(indexed.folder, "search", "--mode", mode, LOCAL)
    document = run(indexed.folder, "search", "--mode", mode, "--json", LOCAL)

    result = json.loads(document.out)
    assert (text.code, document.code) == (0, 0)
    assert result["search_mode"] == mode
    assert {source["path"] for source in result["sources"]} == {"ada.txt", "babbage.md"}
    assert result["response"] in text.out
    assert "**Sources:**" in text.out
    assert (text.err, document.err) == ("", "")


def test_the_context_alone(indexed: Indexed) -> None:
    """``--context`` prints what an answer would be made from, and makes none."""
    text = run(indexed.folder, "search", "--context", LOCAL)
    document = run(indexed.folder, "search", "--context", "--json", LOCAL)

    assert DOCUMENTS["ada.txt"] in text.out
    assert "\nSources:\n" in text.out
    assert "- ada.txt" in text.out.splitlines()
    assert json.loads(document.out)["response"] == ""


def test_the_context_of_an_index_without_entities_is_said(tmp_path: Path) -> None:
    """Global search has nothing and says why; local search has the texts, with a note."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("It rains.", encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    whole = run(tmp_path, "search", "--context", "--mode", "global", LOCAL)
    local = run(tmp_path, "search", "--context", "--mode", "local", "Does it rain?")

    assert (whole.code, local.code) == (0, 0)
    assert whole.out.startswith("The index holds no entities")
    assert "Sources:" not in whole.out
    assert "It rains." in local.out
    assert "texts alone were searched" in local.out + local.err


def test_a_change_is_seen_and_taken_up(edited: Path) -> None:
    """Status says stale; --no-index answers from what is there with a warning; search updates."""
    status = json.loads(run(edited, "status", "--json").out)["tools"][0]
    assert (status["up_to_date"], status["counts"]["files"]) == (False, 2)
    assert "stale (the documents changed)" in run(edited, "status").out

    old = run(edited, "search", "--no-index", "--json", "Who wrote a compiler?")
    assert old.code == 0
    assert old.err.startswith("warning: the index is stale (the documents changed)")
    assert "hopper.txt" not in old.out

    new = run(edited, "search", "--json", "Who wrote a compiler?")
    assert new.code == 0
    assert "hopper.txt" in {source["path"] for source in json.loads(new.out)["sources"]}
    assert "indexed 3 files" in new.err
    assert run(edited, "status").out.startswith("knowledge: up to date")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_the_old_index(number: signal.Signals, edited: Path) -> None:
    """One line, code 130, no process left behind, and the index as it was."""
    before = json.loads(run(edited, "status", "--json").out)
    folders = sorted(edited.glob(".holodeck/graphrag/knowledge/*/*/"))

    with subprocess.Popen(
        [sys.executable, "-m", "holodeck", "index"],
        cwd=edited,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if line.startswith("building"):
                child.send_signal(number)
                break
        out, err = child.communicate(timeout=60)

    assert (child.returncode, out) == (130, "")
    assert err.splitlines()[-1].startswith("error: interrupted")
    assert "Traceback" not in err
    assert sorted(edited.glob(".holodeck/graphrag/knowledge/*/*/")) == folders
    assert json.loads(run(edited, "status", "--json").out) == before
