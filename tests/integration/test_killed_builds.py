"""A build that is killed at any point of it, whatever its engine."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.contracts import SearchEngine
from holodeck.lib.engines import ENGINES, engine_class
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ModelServer
from holodeck.testing.replies import ServerRequest

pytestmark = [pytest.mark.integration, pytest.mark.heavy, pytest.mark.timeout(600)]

CONCURRENCY = 2
COMPANIES = ("Orion Labs", "Vega Works")
BUILT_FROM = {"graphrag": 12, "default": 600}
"""Documents: each is a call of the graph engine, 256 are one of the default engine."""

KILLED_CALLS = 4
"""Kills in the middle of a call, at a seeded one each."""

BUILD = """
import asyncio, os, sys
from pathlib import Path
from holodeck.lib.engines import engine_class
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

name, base, url, step, done = sys.argv[1:]
writes = None

def report(progress):
    global writes
    print("event", progress.done, progress.step)
    if progress.step == "publish" and progress.done == 0:
        writes = 0
    if progress.step == step and progress.done >= int(done):
        os.kill(os.getpid(), 9)

def watch(event, arguments):
    global writes
    if writes is None or event not in ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir"):
        return
    if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
        return
    if not str(arguments[0]).startswith(base):
        return
    writes += 1
    if step == "write" and writes > int(done):
        os.kill(os.getpid(), 9)

sys.addaudithook(watch)
engine = engine_class(name)(
    VectorstoreTool(name="k", engine=name, source="docs",
                    graphrag=GraphRAGConfig(max_gleanings=0) if name == "graphrag" else None),
    base,
    ExecutionConfig(concurrency=2),
    agent_model=LLMProvider(provider="openai", name="gpt-4o", api_base=url, api_key="k"),
    environ={},
    on_progress=report,
)
asyncio.run(engine.initialize())
print("writes", writes or 0, "files")
"""


class Project:
    """Documents and an index, built by processes that may be killed."""

    def __init__(self, name: Any, base: Path, server: ModelServer) -> None:
        self.name = name
        self.base = base
        self.server = server

    def write(self, company: str) -> None:
        """Write documents in which everybody works for ``company``."""
        docs = self.base / "docs"
        docs.mkdir(parents=True, exist_ok=True)
        rows = [
            {"text": f"Person Number{n} works for {company}."} for n in range(BUILT_FROM[self.name])
        ]
        (docs / "people.json").write_text(json.dumps(rows), encoding="utf-8")

    def engine(self) -> SearchEngine:
        graphrag = GraphRAGConfig(max_gleanings=0) if self.name == "graphrag" else None
        model = {"provider": "openai", "name": "gpt-4o", "api_base": self.server.url}
        made: SearchEngine = engine_class(self.name)(  # type: ignore[call-arg]  # every engine takes these
            VectorstoreTool(name="k", engine=self.name, source="docs", graphrag=graphrag),
            str(self.base),
            ExecutionConfig(concurrency=CONCURRENCY),
            agent_model=LLMProvider.model_validate({**model, "api_key": "k"}),
            environ={},
        )
        return made

    def start(self, step: str, done: int) -> subprocess.Popen[str]:
        """Start a build that kills itself where ``step`` is reached."""
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                BUILD,
                self.name,
                str(self.base),
                self.server.url,
                step,
                str(done),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def end(self, child: subprocess.Popen[str]) -> tuple[int, str]:
        out, err = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), err
        return child.returncode, out

    def points(self) -> list[tuple[str, int]]:
        """Build, and return where to kill: each step's beginning, end, and a place in between."""
        _, out = self.end(self.start("never", 0))
        done: dict[str, set[int]] = {}
        for line in out.splitlines():
            word, number, step = line.split(" ", 2)
            if word == "event":
                done.setdefault(step, set()).add(int(number))
        chosen = random.Random(33)
        points = []
        for step, seen in done.items():
            inner = sorted(seen)[1:-1]
            places = {min(seen), max(seen), *([chosen.choice(inner)] if inner else [])}
            points += [(step, place) for place in sorted(places)]
        assert points[-1] == ("publish", 1)
        return points[:-1]  # which is after the commit

    def kill_at(self, step: str, done: int) -> None:
        code, _ = self.end(self.start(step, done))
        assert code == -signal.SIGKILL, (step, done)

    def kill_in_call(self, number: int) -> bool:
        """Kill a build while its ``number``-th paid call is on its way; tell whether it had one."""
        kill = Killer(number)
        self.server.reply(None, "", when=kill)
        child = self.start("never", 0)
        kill.now = child.kill
        code, _ = self.end(child)
        kill.now = lambda: None
        assert code == (-signal.SIGKILL if kill.seen >= number else 0)
        return kill.seen >= number

    async def build(self) -> bool:
        """Build or open, and tell whether it was built."""
        engine = self.engine()
        await engine.initialize()
        await engine.close()
        return engine.was_built

    async def answers_of(self) -> str:
        """Return the company of which the index says everything, as it is; ask for no answer."""
        engine = self.engine()
        await engine.open_existing()
        context = (await engine.retrieve("Who works where?", answer=False)).context
        await engine.close()
        (said,) = [company for company in COMPANIES if company in context]
        return said

    def paid(self) -> int:
        """Return the calls that were made for builds: questions embed one text of their own."""
        return sum(is_paid(request) for request in self.server.requests)


def is_paid(request: ServerRequest) -> bool:
    if request.kind == "embedding":
        return "Who works where?" not in request.text
    return request.kind in ("extract", "summarize", "report")


class Killer:
    """A rule that fits nothing, and kills when it has seen so many paid calls."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0
        self.now: Callable[[], None] = lambda: None

    def __call__(self, request: ServerRequest) -> bool:
        if is_paid(request):
            self.seen += 1
            if self.seen == self.number:
                self.now()
        return False


every_engine = pytest.mark.parametrize("name", list(ENGINES))


@every_engine
def test_every_kill_leaves_an_index_and_costs_what_was_in_flight(name: str, tmp_path: Path) -> None:
    """Before, in and after each step, and in calls: the old index answers, the next build goes on.

    All runs together ask for at most what one build from nothing asks for, and what was in flight
    at each kill.
    """
    with ModelServer() as server:
        cold = Project(name, tmp_path / "cold", server)
        cold.write(COMPANIES[1])
        points = cold.points()
        price = cold.paid()

    with ModelServer() as server:
        project = Project(name, tmp_path / "killed", server)
        project.write(COMPANIES[0])
        asyncio.run(project.build())
        project.write(COMPANIES[1])
        server.reset_counts()
        kills = len(points)
        for step, done in points:
            project.kill_at(step, done)
            assert asyncio.run(project.answers_of()) == COMPANIES[0], (step, done)

        assert asyncio.run(project.build())
        assert asyncio.run(project.answers_of()) == COMPANIES[1]
        assert project.paid() <= price + CONCURRENCY * kills


@every_engine
def test_a_kill_in_a_call_costs_that_call_again(name: str, tmp_path: Path) -> None:
    """Each kill is in the middle of another call, before which some were answered."""
    with ModelServer() as server:
        cold = Project(name, tmp_path / "cold", server)
        cold.write(COMPANIES[1])
        asyncio.run(cold.build())
        price = cold.paid()

    with ModelServer() as server:
        project = Project(name, tmp_path / "killed", server)
        project.write(COMPANIES[0])
        asyncio.run(project.build())
        project.write(COMPANIES[1])
        server.reset_counts()
        left, kills, is_done = price, 0, False
        chosen = random.Random(20)
        while left > 0 and kills < KILLED_CALLS:
            number = chosen.randint(1, max(1, left // 2))
            is_done = not project.kill_in_call(number)
            if is_done:
                break  # what was in flight at the kills before was kept: fewer were left
            kills += 1
            left = price - max(0, project.paid() - CONCURRENCY * kills) - 1
            assert asyncio.run(project.answers_of()) == COMPANIES[0], number

        assert asyncio.run(project.build()) != is_done
        assert kills
        assert asyncio.run(project.answers_of()) == COMPANIES[1]
        assert project.paid() <= price + CONCURRENCY * kills


@every_engine
def test_a_kill_inside_the_publish_leaves_one_whole_index(name: str, tmp_path: Path) -> None:
    """Before each file that is written, renamed or deleted then: all of the old or of the new.

    Nothing is asked for again, and what is left over is gone after the next build.
    """
    with ModelServer() as server:
        project = Project(name, tmp_path, server)
        for company in COMPANIES:
            project.write(company)
            asyncio.run(project.build())
        folders = folders_of(project)
        project.write(COMPANIES[0])
        _, out = project.end(project.start("never", 0))
        writes = int(out.split()[-2])
        paid = project.paid()
        seen = set()
        for number in range(writes):
            before, after = COMPANIES[number % 2], COMPANIES[(number + 1) % 2]
            project.write(after)
            project.kill_at("write", number)
            said = asyncio.run(project.answers_of())
            was_built = asyncio.run(project.build())

            assert was_built is (said == before), number
            assert asyncio.run(project.answers_of()) == after
            assert folders_of(project) == folders, number
            seen.add(said == after)

        assert writes >= 4
        assert seen == {False, True}
        assert project.paid() == paid


def folders_of(project: Project) -> int:
    """Return how many folders of generations there are."""
    index = (
        project.base / ".holodeck" / ("graphrag" if project.name == "graphrag" else "vectorstore")
    )
    return len([path for path in index.glob("k/*/*") if path.name.isdigit()])
