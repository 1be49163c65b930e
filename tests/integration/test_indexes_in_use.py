"""Indexes in odd places, moved, copied, and built by two at once, whatever their engine."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")
pytest.importorskip("wordllama", reason="needs the extra embedded")

from holodeck.errors import ConfigError, IndexBusyError
from holodeck.lib.contracts import SearchEngine
from holodeck.lib.engines import ENGINES, engine_class
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

every_engine = pytest.mark.parametrize(
    "name",  # several builds of the graph engine in a test take most of a minute
    [
        pytest.param(name, marks=[pytest.mark.heavy] if name == "graphrag" else [])
        for name in ENGINES
    ],
)

FOLDERS = {
    "blanks": " a  b ",
    "every script": "문서 🚀 Köln",
    "number sign": "a#b",
    "per cent": "100%25 a%2Fb",
    "question": "a?b=c&d",
    "quotes": 'it\'s "x"',
    "long": "x" * 200,
    "pattern": "a[b]*{c}",
    "looks like an address": "s3:",
}
FOLDERS["all of them"] = "".join(FOLDERS.values()).replace("x" * 200, "")


def engine(name: Any, base: Path, *, wait_for_builder: bool = True) -> SearchEngine:
    made: SearchEngine = engine_class(name)(  # type: ignore[call-arg]  # every engine takes these
        VectorstoreTool(name="k", source="docs", engine=name),
        str(base),
        agent_model=LLMProvider(provider="embedded"),
        wait_for_builder=wait_for_builder,
    )
    return made


def write(base: Path, person: str = "Ann Lee") -> None:
    (base / "docs").mkdir(parents=True, exist_ok=True)
    text = f"{person} runs Orion Labs in Paris. Orion Labs bought Vega Works."
    (base / "docs" / "a.txt").write_text(text, encoding="utf-8")


async def build(name: str, base: Path) -> bool:
    """Build or open, and tell whether it was built."""
    opened = engine(name, base)
    await opened.initialize()
    await opened.close()
    return opened.was_built


async def context_of(name: str, base: Path) -> str:
    """Return what the index says, as it is."""
    opened = engine(name, base)
    await opened.open_existing()
    context = (await opened.retrieve("Who runs Orion Labs?", answer=False)).context
    await opened.close()
    return context


CASES = [("default", what) for what in FOLDERS] + [("graphrag", "all of them")]


@pytest.mark.parametrize(("name", "what"), CASES)
async def test_an_index_may_lie_in_any_folder(name: str, what: str, tmp_path: Path) -> None:
    """It is built, found up to date, searched and built anew; nothing lands beside the folder."""
    base = tmp_path / FOLDERS[what]
    write(base)
    first = await build(name, base)
    again = await build(name, base)
    context = await context_of(name, base)
    write(base, "Bob Ray")
    updated = await build(name, base)

    assert (first, again, updated) == (True, False, True)
    assert "Ann Lee" in context
    assert "Bob Ray" in await context_of(name, base)
    assert inside(tmp_path) == [base]


@pytest.mark.parametrize("name", list(ENGINES))
async def test_a_folder_that_no_store_can_open_is_refused(name: str, tmp_path: Path) -> None:
    """A control character in the path is told before a document is read."""
    write(tmp_path / "a\nb")

    with pytest.raises(ConfigError, match=r"control character '\\n'"):
        await build(name, tmp_path / "a\nb")


def inside(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@every_engine
async def test_a_moved_index_is_as_good_as_before(name: str, tmp_path: Path) -> None:
    """Nothing in it knows where it lies."""
    write(tmp_path / "before")
    await build(name, tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "after")

    assert not await build(name, tmp_path / "after")
    assert "Ann Lee" in await context_of(name, tmp_path / "after")


@every_engine
async def test_an_index_is_copied_while_it_is_in_use(name: str, tmp_path: Path) -> None:
    """The copy is whole, belongs to nobody, and what happens to it does not reach the original."""
    base, copy = tmp_path / "original", tmp_path / "copy"
    write(base)
    await build(name, base)
    reader = engine(name, base)
    await reader.open_existing()
    stop = await building(name, base, "Bob Ray")
    try:
        shutil.copytree(base, copy)
    finally:
        stop.kill()
        stop.wait()
    copied = await context_of(name, copy)
    write(copy, "Cara Fox")
    rebuilt = await build(name, copy)
    answer = (await reader.retrieve("Who runs Orion Labs?", answer=False)).context
    await reader.close()

    assert "Ann Lee" in copied
    assert rebuilt
    assert "Cara Fox" in await context_of(name, copy)
    assert "Ann Lee" in answer


HOLD = """
import asyncio, sys, time
from holodeck.lib.engines import engine_class
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool

def report(progress):
    if progress.step == "chunk":
        print("building", flush=True)
        time.sleep(3600)

engine = engine_class(sys.argv[1])(
    VectorstoreTool(name="k", source="docs", engine=sys.argv[1]), sys.argv[2],
    agent_model=LLMProvider(provider="embedded"), on_progress=report)
asyncio.run(engine.initialize())
"""


def start_building(name: str, base: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, name, str(base)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


async def building(name: str, base: Path, person: str) -> subprocess.Popen[str]:
    """Return a process that holds the builder's lock, in the middle of a build."""
    write(base, person)
    child = start_building(name, base)
    assert child.stdout is not None
    line = await asyncio.to_thread(child.stdout.readline)
    child.stdout.close()
    assert line == "building\n"
    return child


@every_engine
async def test_a_builder_that_is_killed_gives_way_to_the_one_that_waits(
    name: str, tmp_path: Path
) -> None:
    """Meanwhile the old index answers and one that does not wait is told; then the other builds."""
    write(tmp_path)
    await build(name, tmp_path)
    first = await building(name, tmp_path, "Bob Ray")
    waiting = asyncio.create_task(build(name, tmp_path))
    try:
        with pytest.raises(IndexBusyError, match=f"process {first.pid} on "):
            await engine(name, tmp_path, wait_for_builder=False).initialize()
        old = await context_of(name, tmp_path)
        was_waiting = not waiting.done()
    finally:
        first.kill()
        first.wait()
    was_built = await waiting

    assert "Ann Lee" in old
    assert (was_waiting, was_built) == (True, True)
    assert "Bob Ray" in await context_of(name, tmp_path)


@every_engine
async def test_a_search_that_began_keeps_its_index_for_two_rebuilds(
    name: str, tmp_path: Path
) -> None:
    """A lease is held while anybody reads; the generation goes with the build after that."""
    write(tmp_path)
    await build(name, tmp_path)
    reader = engine(name, tmp_path)
    await reader.open_existing()
    for person in ("Bob Ray", "Cara Fox"):
        write(tmp_path, person)
        assert await build(name, tmp_path)
    held = generations(tmp_path)
    await reader.close()
    await build(name, tmp_path)

    assert held == ["000001", "000003"]
    assert generations(tmp_path) == ["000003"]


def generations(base: Path) -> list[str]:
    return sorted({path.name for path in base.glob(".holodeck/*/k/*/*") if path.name.isdigit()})
