"""Whole builds over models that fail, against the model server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.tables import SCHEMAS, read_rows
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import Fault, ModelServer, Reply, ServerRequest
from holodeck.testing.graph_replies import GRAPH_REPLIES

pytestmark = [pytest.mark.integration, pytest.mark.heavy]

NAMES = ("Ann Lee", "Bob Ray", "Cara Fox", "Dan Orr", "Eve Poe", "Fay Roe", "Gus Ott", "Hal Ive")
PLACES = ("Acme Corp", "Vega Works", "Orion Labs")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENAI_API_KEY": "sk-test"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def write_documents(folder: Path, texts: dict[str, str] | None = None) -> None:
    """Write twenty documents of one chunk each, or these."""
    (folder / "docs").mkdir(parents=True)
    many = {
        f"{n:02}.txt": f"{NAMES[n % 8]} works for {PLACES[n % 3]} in Town{n}." for n in range(20)
    }
    for name, text in (texts or many).items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")


def engine(
    server: ModelServer, folder: Path, *, max_retries: int = 5, **settings: Any
) -> GraphRAGEngine:
    return GraphRAGEngine(
        VectorstoreTool(
            name="people",
            engine="graphrag",
            source="docs",
            graphrag=GraphRAGConfig.model_validate({"max_gleanings": 0, **settings}),
        ),
        str(folder),
        ExecutionConfig(concurrency=1, max_retries=max_retries),
        agent_model=LLMProvider.model_validate(
            {"provider": "openai", "name": "gpt-4o", "api_base": server.url, "api_key": "sk-test"}
        ),
        environ={},
    )


def spoilt(kind: str, spoil: list[Callable[[str], str]]) -> Callable[[ServerRequest], str | Reply]:
    """Return replies of which every fifth is spoilt, each way in turn."""
    turn = count(1)
    healthy = GRAPH_REPLIES[kind]
    assert callable(healthy)

    def answer(request: ServerRequest) -> str | Reply:
        text = healthy(request)
        assert isinstance(text, str)
        number = next(turn)
        return text if number % 5 else spoil[(number // 5 - 1) % len(spoil)](text)

    return answer


SPOIL: list[Callable[[str], str]] = [
    lambda text: text[: len(text) * 2 // 3],
    lambda text: f"```\n{text}\n```",
    lambda text: "",
    lambda text: f"<think>first, {text}",
    lambda text: "Certainly. The text is about people.",
    lambda text: f"Let me see.\n</think>\nHere it is:\n{text}\nI hope it helps.",
]


async def test_faults_that_can_be_mended_leave_the_same_graph(
    server: ModelServer, tmp_path: Path
) -> None:
    """With every fifth reply cut, fenced, empty, lost in thoughts or in prose, and connections that
    break, entities, relationships, communities and reports are those of a healthy model.
    """
    write_documents(tmp_path / "healthy")
    write_documents(tmp_path / "faulty")
    healthy = engine(server, tmp_path / "healthy")
    await healthy.initialize()
    asked = server.counts["extract"].calls
    server.reset_counts()
    server.reply("extract", spoilt("extract", SPOIL))
    server.reply("report", spoilt("report", SPOIL))
    server.fault(Fault(kind="extract", every=7, cut_stream=True))
    faulty = engine(server, tmp_path / "faulty")
    await faulty.initialize()

    for table in ("entities", "relationships", "communities", "community_reports"):
        rows = [read_rows(graph.storage.output_dir, table) for graph in (healthy, faulty)]
        assert rows[0] == rows[1]
        assert rows[0]
    assert server.counts["extract"].calls > asked
    assert faulty.metadata is not None
    account = faulty.metadata.account
    assert account.chunks["failed"] == 0
    assert account.chunks["repaired"] == 5
    assert account.failures == ()
    await healthy.close()
    await faulty.close()


def holodeck(folder: Path, *words: str) -> str:
    """Run a command in a process of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "holodeck", *words],
        env=ENVIRONMENT,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked_for(server: ModelServer) -> list[str]:
    """Return the documents whose extraction was asked for, and forget them."""
    texts = [r.text for r in server.requests if r.kind == "extract"]
    server.reset_counts()
    return sorted({f"Town{n}" for n in range(20) for text in texts if f"Town{n}." in text})


async def test_what_failed_is_said_and_asked_for_again(server: ModelServer, tmp_path: Path) -> None:
    """An index with losses says which, where and why. The command ``index`` asks again for what may
    pass, ``retry_failed`` for what was refused, and ``initialize`` by itself for neither.
    """
    write_documents(tmp_path)
    settings: dict[str, Any] = {"max_failed_share": 0.1, "max_gleanings": 0}
    tool = {"name": "people", "type": "vectorstore", "engine": "graphrag", "source": "docs"}
    model = {"provider": "openai", "name": "gpt-4o", "api_base": server.url}
    agent = {"name": "a", "model": model, "tools": [{**tool, "graphrag": settings}]}
    (tmp_path / "agent.yaml").write_text(json.dumps(agent), encoding="utf-8")
    server.fault(Fault(kind="extract", containing="Town3.", code="content_filter"))
    server.fault(Fault(kind="extract", containing="Town5.", empty=True))
    first = engine(server, tmp_path, **settings)
    await first.initialize()
    server.heal()
    asked_for(server)

    opened = engine(server, tmp_path, **settings)
    await opened.initialize()
    by_initialize = asked_for(server)
    (second,) = json.loads(await asyncio.to_thread(holodeck, tmp_path, "index", "--json"))["tools"]
    by_index = asked_for(server)
    third = engine(server, tmp_path, **settings)
    await third.initialize(retry_failed=True)

    assert first.metadata is not None
    account = first.metadata.account
    assert account.chunks == {"done": 18, "repaired": 0, "empty": 0, "failed": 2}
    assert [(f.place, f.passing) for f in account.failures] == [("03.txt", False), ("05.txt", True)]
    assert first.metadata.warnings[0].startswith("2 of 20 chunks failed: ")
    assert (by_initialize, by_index, asked_for(server)) == ([], ["Town5"], ["Town3"])
    assert (second["built"], second["account"]["chunks"]["failed"]) == (True, 1)
    assert not opened.was_built
    assert third.status().warnings == ()
    entities = [graph.index_stats["entities"] for graph in (opened, third)]
    assert entities[0] < second["counts"]["entities"] < entities[1]
    for graph in (first, opened, third):
        await graph.close()


LOSSES: dict[str, tuple[Fault | Reply | str, bool, str]] = {
    "Town0.": (Fault(code="content_filter"), False, "refused this text"),
    "Town1.": (Fault(code="context_length_exceeded"), False, "cannot take a request this long"),
    "Town2.": (Fault(status=413), False, "413"),
    "Town3.": (Fault(status=400), False, "400"),
    "Town4.": (Reply(text=None, refusal="Nein."), False, "refused this text: Nein."),
    "Town5.": (Reply(text="(", finish_reason="content_filter"), False, "content filter cut"),
    "Town6.": ("I can't help with that.", False, "the model refused"),
    "Town7.": (Fault(status=429), True, "429"),
    "Town8.": (Fault(status=503), True, "503"),
    "Town9.": (Fault(cut_stream=True), True, "it broke off"),
    "Town10.": (Fault(not_json=True), True, "no chat completion"),
    "Town11.": (Fault(empty=True), True, "no answer (stop)"),
    "Town12.": (Reply(text=None, finish_reason="length"), True, "no answer (token limit)"),
    "Town13.": (Reply(text="<think>hm", finish_reason="length"), True, "only thoughts"),
    "Town14.": ("Es tut mir leid, das geht nicht.", True, "no records and no end marker"),
    "Town15.": ('"name": "A", "kind": "b"\n<|COMPLETE|>', True, "in another format"),
}
"""What is sent about one document → what is done, whether it may pass, and its cause."""


async def test_every_loss_is_told_with_its_cause(server: ModelServer, tmp_path: Path) -> None:
    """A chunk that cannot be had ends as failed, whatever the model or its server did; the others
    are in the index, and only what may pass is asked for by the next build.
    """
    write_documents(tmp_path)
    for text, (what, _, _) in LOSSES.items():
        if isinstance(what, Fault):
            server.fault(replace(what, kind="extract", containing=text))
        else:
            server.reply("extract", what, containing=text)
    lossy = engine(server, tmp_path, max_retries=0, max_failed_share=0.8)
    await lossy.initialize()
    asked_for(server)
    server.heal()
    again = engine(server, tmp_path, max_retries=0, max_failed_share=0.8)
    await again.initialize(retry_failed="passing")

    assert lossy.metadata is not None
    account = lossy.metadata.account
    assert account.chunks == {"done": 4, "repaired": 0, "empty": 0, "failed": 16}
    told = {f"Town{int(f.place[:2])}.": (f.passing, f.cause) for f in account.failures}
    assert told.keys() == LOSSES.keys()
    for text, (_, passing, cause) in LOSSES.items():
        assert told[text][0] == passing, text
        assert cause in told[text][1], text
    passing_ones = sorted(text[:-1] for text, (_, passing, _) in LOSSES.items() if passing)
    assert asked_for(server) == passing_ones
    for graph in (lossy, again):
        await graph.close()


async def test_a_text_that_names_nothing_is_a_finished_empty_index(
    server: ModelServer, tmp_path: Path
) -> None:
    """Every table is there, the counts are true, and both searches say what there is not."""
    write_documents(tmp_path, {"a.txt": "Hello world"})
    server.reply("extract", "<|COMPLETE|>")
    graph = engine(server, tmp_path)
    await graph.initialize()
    local, whole = await graph.search("Who?"), await graph.search("What?", mode="global")

    assert graph.metadata is not None
    assert graph.metadata.account.chunks == {"done": 0, "repaired": 0, "empty": 1, "failed": 0}
    assert (graph.index_stats["text_units"], graph.index_stats["entities"]) == (1, 0)
    assert all(
        (graph.storage.output_dir / f"{t}.parquet").exists()
        for t in SCHEMAS.keys() - {"covariates"}
    )
    assert "no entities" in local
    assert "no entities" in whole or "no community reports" in whole
    await graph.close()


async def test_every_part_of_a_graph_can_be_found(server: ModelServer, tmp_path: Path) -> None:
    """Components beside the largest have communities, and what stands alone, or only relates to
    itself, is found from its text.
    """
    write_documents(
        tmp_path,
        {
            "orion.txt": "\n".join(f"{name} runs Orion Labs." for name in NAMES[:6]),
            "vega.txt": "Gus Ott leads Vega Works. Hal Ive leads Vega Works.",
            "zeta.txt": "in 2021 the Site Zeta closed.",
            "loop.txt": "the Ring Rho calls itself.",
        },
    )
    loop = '("relationship"<|>Ring Rho<|>RING RHO<|>calls itself<|>3)<|COMPLETE|>'
    server.reply("extract", loop, containing="Ring Rho")
    graph = engine(server, tmp_path)
    await graph.initialize()
    found = {
        name: (await graph.retrieve(f"What of {name}?", answer=False)).context
        for name in ("Vega Works", "Site Zeta", "Ring Rho")
    }
    whole = await graph.retrieve("What is this about?", mode="global", answer=False)

    assert "Hal Ive leads" in found["Vega Works"]
    assert "closed" in found["Site Zeta"]
    assert "calls itself" in found["Ring Rho"]
    assert {"orion.txt", "vega.txt"} <= {source.path for source in whole.sources}
    assert graph.metadata is not None
    assert graph.index_stats["entities"] == len(read_rows(graph.storage.output_dir, "entities"))
    assert graph.metadata.account.isolated == 2
    assert graph.metadata.account.dropped == {"relationship of an entity with itself": 1}
    await graph.close()
