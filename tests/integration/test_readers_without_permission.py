"""A user who may read an index and not write to it, and one whose disk can only be read."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")
pytest.importorskip("wordllama", reason="needs the extra embedded")

from holodeck.testing import ModelServer

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.xdist_group("readers without permission"),  # each index is built once
]

if sys.platform == "win32":
    pytest.skip("this system has no such users", allow_module_level=True)

if os.geteuid() == 0 and not all(
    folder.stat().st_mode & stat.S_IXOTH for folder in Path(pytest.__file__).resolve().parents
):
    pytest.skip("other users cannot enter the folder of the packages", allow_module_level=True)

READ = """
import asyncio, contextlib, io, json, os, stat, sys
from pathlib import Path
from holodeck.cli import main
from holodeck.config.loader import load_agent
from holodeck.lib.indexes.leases import is_leased

base, lease = Path(sys.argv[1]), Path(sys.argv[2])

def search():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["search", "Who runs Orion Labs?", "-a", str(base / "agent.yaml"), "--context"])
    return code, out.getvalue(), err.getvalue()

async def held():
    tool = load_agent(base / "agent.yaml").tool()
    await tool.initialize()
    answer = is_leased(lease)
    await tool.close()
    return answer, tool.engine.was_built

before = search()          # everything is imported while all of it can be read
asyncio.run(held())
if sys.argv[3] == "unguarded":
    lease.chmod(0o755)
    (lease / ".lease").unlink()
    lease.chmod(0o555)
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
after = search()
is_held, was_built = asyncio.run(held())
print(json.dumps([before, after, is_held, was_built]))
"""

ESTIMATE = """
import contextlib, io, json, os, sys
from holodeck.cli import main

def estimate():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(["index", "--estimate", "--force", "-a", sys.argv[1], "--json"])
    return code, json.loads(out.getvalue())

before = estimate()          # everything is imported while all of it can be read
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
print(json.dumps([before, estimate()]))
"""

PLACES = {
    "default": ("vectorstore", "generations"),
    "graphrag": ("graphrag", "output"),
}


@pytest.fixture(scope="module", params=list(PLACES))
def project(request: pytest.FixtureRequest) -> Iterator[tuple[Path, Path]]:
    """Return an indexed project that anybody may read and nobody may write, and its generation."""
    base = Path(tempfile.mkdtemp())  # not below pytest's own folder, which others may not enter
    engine = str(request.param)
    (base / "docs").mkdir()
    (base / "docs" / "a.txt").write_text("Ann Lee runs Orion Labs in Paris.", encoding="utf-8")
    (base / "agent.yaml").write_text(
        "name: a\nmodel: {provider: embedded}\n"
        f"tools: [{{name: k, source: docs, engine: {engine}}}]\n",
        encoding="utf-8",
    )
    index(base)
    change_modes(base, writable=False)
    place, root = PLACES[engine]
    yield base, base / ".holodeck" / place / "k" / root / "000001"
    change_modes(base, writable=True)
    shutil.rmtree(base)


@pytest.fixture
def paid() -> Iterator[Path]:
    """Return a project whose replies were paid for, by which nothing can be written."""
    base = Path(tempfile.mkdtemp())
    (base / "docs").mkdir()
    (base / "docs" / "a.txt").write_text("Ann Lee runs Orion Labs in Paris.", encoding="utf-8")
    with ModelServer() as server:
        (base / "agent.yaml").write_text(
            f'name: a\nmodel: {{provider: openai, name: m, api_base: "{server.url}", api_key: k}}\n'
            "tools: [{name: k, source: docs, engine: graphrag}]\n",
            encoding="utf-8",
        )
        index(base)
    change_modes(base, writable=False)
    yield base
    change_modes(base, writable=True)
    shutil.rmtree(base)


def index(base: Path) -> None:
    command = [sys.executable, "-m", "holodeck", "index", "-a", str(base / "agent.yaml")]
    subprocess.run(command, env=environment(), check=True, capture_output=True)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def change_modes(base: Path, *, writable: bool) -> None:
    for path in (base, *base.rglob("*")):
        mode = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH | (stat.S_IWUSR if writable else 0)
        path.chmod(mode | (0o111 if path.is_dir() else 0))


def estimated(base: Path) -> list[tuple[int, dict[str, Any]]]:  # Any: JSON
    """Return what an estimate of a build anew says: before and after rights were given up."""
    done = subprocess.run(
        [sys.executable, "-c", ESTIMATE, str(base / "agent.yaml")],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found: list[tuple[int, dict[str, Any]]] = json.loads(done.stdout)
    return found


def read(base: Path, generation: Path, *, guarded: bool = True) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", READ, str(base), str(generation), "" if guarded else "unguarded"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout)
    return found


def test_who_may_only_read_searches_and_holds_a_lease(project: tuple[Path, Path]) -> None:
    """Nothing is built, written or complained of, and a builder leaves what is being read."""
    base, generation = project
    files = sorted(base.rglob("*"))
    before, after, is_held, was_built = read(base, generation)

    assert before == after
    assert isinstance(after, list)
    assert after[0] == 0
    assert "Ann Lee" in after[1]
    assert after[2] == ""
    assert is_held is True
    assert was_built is False
    assert sorted(base.rglob("*")) == files


def test_without_a_file_for_the_lease_there_is_a_search_all_the_same(
    project: tuple[Path, Path],
) -> None:
    """An index of before, or on a disk that can only be read, is not guarded and is searched."""
    base, generation = project
    _, after, is_held, was_built = read(base, generation, guarded=False)

    assert isinstance(after, list)
    assert (after[0], after[2]) == (0, "")
    assert "Ann Lee" in after[1]
    assert is_held is False
    assert was_built is False


def test_paid_replies_that_may_only_be_read_are_not_paid_for_again(paid: Path) -> None:
    """An estimate counts them where the cache can be read, and goes on without where it cannot."""
    before, after = estimated(paid)
    assert after == before
    assert after[0] == 0
    steps = {row["step"] for row in after[1]["tools"][0]["steps"]}
    assert steps == {"probe chat", "probe embedding"}

    (replies,) = paid.glob(".holodeck/cache/**/replies.sqlite")
    replies.chmod(0o600 if os.geteuid() == 0 else 0)
    code, without = estimated(paid)[1]
    assert code == 0
    assert "extract" in {row["step"] for row in without["tools"][0]["steps"]}
