"""The graph engine over a real wire: provider ``openai`` against the model server on loopback."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.errors import HolodeckError, IndexingError, MissingKeyError
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.tables import read_rows
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import Fault, ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.slow]

KEY = "sk-test-CANARY-123"
PEOPLE = ("Ann Lee", "Bob Ray", "Cara Fox", "Dan Orr", "Eve Poe")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Return a server that knows the key."""
    with ModelServer(api_key=KEY) as running:
        yield running


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder of five documents, one chunk each."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, name in enumerate(PEOPLE):
        text = f"{name} works for Acme Corp in San Francisco."
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


def engine(
    server: ModelServer,
    docs: Path,
    *,
    key: str | None = KEY,
    execution: ExecutionConfig | None = None,
    **settings: object,
) -> GraphRAGEngine:
    tool = VectorstoreTool(
        name="people",
        engine="graphrag",
        source=str(docs),
        graphrag=GraphRAGConfig.model_validate({"max_gleanings": 0, **settings}),
    )
    return GraphRAGEngine(
        tool,
        str(docs.parent),
        execution,
        agent_model=LLMProvider.model_validate(
            {"provider": "openai", "name": "gpt-4o", "api_base": server.url, "api_key": key}
        ),
        environ={},
    )


def calls(server: ModelServer) -> dict[str, int]:
    """Return the calls of the work by kind, without the word that each build asks beforehand."""
    return {kind: counted.calls for kind, counted in server.counts.items() if kind != "probe"}


async def test_index_and_both_searches(server: ModelServer, docs: Path) -> None:
    """The same commands and the same shape of result as without a model; nothing is paid twice."""
    graph = engine(server, docs)
    await graph.initialize()
    built = calls(server)

    local = await graph.retrieve("Who works for Acme Corp?", mode="local")
    whole = await graph.retrieve("What is this about?", mode="global")

    assert graph.index_stats["entities"] >= len(PEOPLE)
    assert graph.metadata is not None
    assert graph.metadata.calls["extract"] == built["extract"] == len(PEOPLE)
    assert {source.path for source in local.sources} == {f"{n}.txt" for n in range(len(PEOPLE))}
    assert whole.sources
    assert (local.search_mode, whole.search_mode) == ("local", "global")

    await graph.initialize()
    before_rebuild = calls(server)
    assert server.counts["probe"].calls == 2
    await graph.initialize(force_reindex=True)
    assert calls(server) == before_rebuild
    assert server.counts["probe"].calls == 4
    await graph.close()


async def test_one_changed_document_asks_for_one_extraction(
    server: ModelServer, docs: Path
) -> None:
    """What was extracted once is kept: only the changed text is asked for, and the old is gone."""
    first = engine(server, docs)
    await first.initialize()
    await first.close()
    before = calls(server)
    (docs / "0.txt").write_text("Zoe Day works for Acme Corp in San Francisco.", encoding="utf-8")

    second = engine(server, docs)
    await second.initialize()
    titles = {row["title"].upper() for row in read_rows(second.storage.output_dir, "entities")}
    await second.close()

    assert calls(server)["extract"] == before["extract"] + 1
    assert any("ZOE" in title for title in titles)
    assert not any("ANN" in title for title in titles)


async def test_extraction_runs_at_the_configured_concurrency(
    tmp_path: Path,
) -> None:
    """With 25 allowed and more chunks than that, 25 requests are in flight, never more."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        text = f"Person Number{number} works for Acme Corp."
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    with ModelServer(api_key=KEY, latency=0.3) as slow:
        graph = engine(slow, folder, execution=ExecutionConfig(concurrency=25))
        await graph.initialize()
        await graph.close()

        assert slow.counts["extract"].calls == 60
        assert slow.counts["extract"].in_flight_max == 25


async def test_rate_limits_that_pass_are_waited_out(server: ModelServer, docs: Path) -> None:
    """A server that asks three times for two seconds of patience gets them; the index is whole."""
    server.fault(Fault(kind="extract", status=429, retry_after=2, first=3))
    graph = engine(server, docs, execution=ExecutionConfig(concurrency=1))
    begun = time.monotonic()
    await graph.initialize()
    waited = time.monotonic() - begun
    await graph.close()

    assert waited >= 3 * 2
    assert server.counts["extract"].calls == len(PEOPLE) + 3
    assert graph.storage.has_valid_index()


async def test_rate_limits_without_end_publish_nothing_and_keep_what_was_paid(
    server: ModelServer, docs: Path
) -> None:
    """The run stops within its budget naming rate limiting; the next one pays for the rest only."""
    server.fault(Fault(kind="extract", status=429, containing=PEOPLE[4]))
    execution = ExecutionConfig(concurrency=1, max_retries=1, retry_budget=1)
    graph = engine(server, docs, execution=execution)
    with pytest.raises(IndexingError, match=r"^GraphRAG indexing failed: .*(?i:rate limit)"):
        await graph.initialize()
    assert graph.storage.get_metadata() is None
    assert not any((graph.storage.storage_dir / "output").iterdir())

    answered = [r for r in server.requests if r.kind == "extract" and PEOPLE[4] not in r.text]
    server.heal()
    server.reset_counts()
    await graph.initialize()
    await graph.close()

    assert server.counts["extract"].calls == len(PEOPLE) - len(answered)


async def test_a_wrong_key_is_a_wrong_key(server: ModelServer, docs: Path) -> None:
    """A 401 is named as such, never "no entities"; nothing is published."""
    graph = engine(server, docs, key="sk-wrong")
    with pytest.raises(IndexingError, match="key") as caught:
        await graph.initialize()

    assert "sk-wrong" not in str(caught.value)
    assert graph.storage.get_metadata() is None


async def test_a_missing_key_is_found_before_a_document_is_read(
    server: ModelServer, docs: Path
) -> None:
    """The error names provider and variable; no folder was made and no call."""
    graph = engine(server, docs, key=None)
    with pytest.raises(MissingKeyError, match=r"API key required for openai.*OPENAI_API_KEY"):
        await graph.initialize()

    assert not graph.storage.storage_dir.exists()
    assert server.requests == []


async def test_claims_are_stored_and_reach_the_context(server: ModelServer, docs: Path) -> None:
    """``skip_claim_extraction: false`` fills a table, and a question about the subject shows it."""
    claim = "(Acme Corp<|>NONE<|>HIRING<|>TRUE<|>NONE<|>NONE<|>Acme Corp hires people<|>quote)"
    server.reply("claims", claim)
    graph = engine(server, docs, skip_claim_extraction=False)
    await graph.initialize()
    result = await graph.retrieve("Acme Corp?", answer=False)
    rows = read_rows(graph.storage.output_dir, "covariates")
    await graph.close()

    assert len(rows) == len(PEOPLE)
    assert "Acme Corp hires people" in result.context


async def test_the_key_stands_nowhere(
    server: ModelServer, docs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in a file, not in a log at the finest level, not in an error or a ``repr``."""
    with caplog.at_level(logging.DEBUG):
        graph = engine(server, docs)
        await graph.initialize()
        await graph.search("Acme Corp?")
        server.fault(Fault(kind="local", status=401))
        with pytest.raises(HolodeckError) as caught:
            await graph.search("Acme Corp?")
        await graph.close()

    files = [file for file in docs.parent.rglob("*") if file.is_file()]
    assert len(files) > len(PEOPLE)
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
    assert KEY not in caplog.text + str(caught.value) + repr(caught.value) + repr(vars(graph))


async def test_a_small_ollama_model_answers_from_an_index_of_a_large_one(
    server: ModelServer, docs: Path
) -> None:
    """Both modes fit the window that is set, and dynamic selection rates with calls of a kind."""
    for number in range(40):
        text = f"Person Number{number} works for Acme Corp in San Francisco. " + "So it is. " * 60
        (docs / f"more{number}.txt").write_text(text, encoding="utf-8")
    small = {
        "provider": "ollama",
        "name": "m",
        "api_base": server.root,
        "context_size": 2048,
        "api_key": KEY,
    }
    graph = engine(server, docs, search_model=small, dynamic_community_selection=True)
    await graph.initialize()
    local = await graph.retrieve("Who works for Acme Corp?", mode="local")
    whole = await graph.retrieve("What is this about?", mode="global")
    await graph.close()

    assert "in place of 12,000" in local.notes[0]
    assert local.sources
    assert whole.references["Reports"]
    assert calls(server)["rate"] > 0
    assert server.cuts == []


async def test_ratings_that_a_server_refuses_end_the_search(
    server: ModelServer, docs: Path
) -> None:
    """A quota that is used up is said at the first rating, and costs no second."""
    graph = engine(server, docs, dynamic_community_selection=True)
    await graph.initialize()
    server.fault(Fault(kind="rate", status=429, code="insufficient_quota"))
    with pytest.raises(HolodeckError, match="quota"):
        await graph.search("What is this about?", mode="global")
    await graph.close()

    assert calls(server)["rate"] == 1
