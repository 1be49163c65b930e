"""The cache of paid replies: what is in it, and that pruning takes nothing that is in use."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.cli import main
from holodeck.testing import ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.slow]

Captured = pytest.CaptureFixture[str]

AGENT = """\
name: analyst
model: {{provider: openai, name: gpt-4o-mini, api_base: "{url}", api_key: k}}
tools:
  - {{name: graph, type: vectorstore, engine: graphrag, source: docs}}
  - {{name: plain, type: vectorstore, source: docs}}
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an agent and three documents, where the process now runs."""
    (tmp_path / "docs").mkdir()
    for number, name in enumerate(("Ann Lee", "Bob Ray", "Cara Fox")):
        write(tmp_path, number, f"{name} works for Acme Corp in Bergen.")
    (tmp_path / "agent.yaml").write_text(AGENT.format(url=server.url), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, number: int, text: str) -> None:
    (project / "docs" / f"{number}.txt").write_text(text, encoding="utf-8")


def work(server: ModelServer) -> int:
    """Return the calls of the work, without the words that each build asks beforehand."""
    return sum(count.calls for kind, count in server.counts.items() if kind != "probe")


def run(capsys: Captured, *words: str) -> dict[str, object]:
    """Run a command and return its JSON document."""
    assert main([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def dropped(found: dict[str, object]) -> int:
    caches = found["caches"]
    assert isinstance(caches, list)
    return sum(int(each["dropped"]["entries"]) for each in caches)


def test_pruning_leaves_what_a_rebuild_needs(
    project: Path, server: ModelServer, capsys: Captured
) -> None:
    """After edits and a rename the old is dropped, and a rebuild from the rest asks nothing."""
    run(capsys, "index")
    write(project, 0, "Zoe Day left Acme Corp for Vega Works in Oslo.")
    write(project, 3, "Dan Orr owns Vega Works.")
    run(capsys, "index")
    run(capsys, "index", "--tool", "graph", "--force")
    (project / "docs" / "1.txt").rename(project / "docs" / "renamed.txt")
    run(capsys, "index")

    assert dropped(run(capsys, "cache", "prune")) > 0
    server.reset_counts()
    run(capsys, "index", "--force")

    assert work(server) == 0
    assert dropped(run(capsys, "cache", "prune")) == 0


def test_info_says_what_is_kept(project: Path, capsys: Captured) -> None:
    """Entries and size by kind and model, and which indexes use it; before a build nothing is."""
    assert main(["cache", "info"]) == 0
    assert "nothing is kept yet" in capsys.readouterr().out
    assert not (project / ".holodeck").exists()
    run(capsys, "index")

    assert main(["cache", "info"]) == 0
    out = capsys.readouterr().out

    assert "extract of openai/gpt-4o-mini: 6 (" in out  # after the first pass, and the whole
    assert "embedding of openai/text-embedding-3-small: " in out
    assert f"used by {project / '.holodeck' / 'graphrag' / 'graph'}" in out
    assert f"used by {project / '.holodeck' / 'vectorstore' / 'plain'}" in out


def test_a_deleted_index_uses_nothing(project: Path, capsys: Captured) -> None:
    """What only it used is dropped; what it shared stays."""
    run(capsys, "index")
    shutil.rmtree(project / ".holodeck" / "graphrag")

    assert main(["cache", "info"]) == 0
    assert "which is gone" in capsys.readouterr().out
    run(capsys, "cache", "prune")

    assert main(["cache", "info"]) == 0
    out = capsys.readouterr().out
    assert "extract" not in out
    assert "embedding of openai/text-embedding-3-small: 3 (" in out


def test_an_unfinished_build_keeps_what_it_paid_for(
    project: Path, server: ModelServer, capsys: Captured
) -> None:
    """A build that stopped at its cap goes on after a prune as if there had been none."""
    words = ["index", "--tool", "graph", "--max-cost", "0.0106"]
    assert main(words) == 5
    asked = server.counts["extract"].calls + server.counts["glean"].calls
    assert asked > 0
    capsys.readouterr()

    assert dropped(run(capsys, "cache", "prune")) == 0
    server.reset_counts()
    run(capsys, "index", "--tool", "graph")

    assert server.counts["extract"].calls + server.counts["glean"].calls == 6 - asked


def test_an_index_that_does_not_say_what_it_uses_stops_pruning(
    project: Path, server: ModelServer, capsys: Captured
) -> None:
    """One of an earlier release is named, with the mend; nothing is dropped before that."""
    run(capsys, "index")
    old = project / ".holodeck" / "graphrag" / "old"
    old.mkdir()
    (old / "index.meta").write_text(json.dumps({"generation": "000001"}), encoding="utf-8")

    assert main(["cache", "prune"]) == 3
    assert f"the index in {old} does not say" in capsys.readouterr().err

    shutil.rmtree(old)
    assert main(["cache", "prune"]) == 0
