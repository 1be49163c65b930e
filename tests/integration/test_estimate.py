"""The price before the build, and what the server then counted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.errors import CostLimitError, IndexingError, SourceNotFoundError
from holodeck.lib.contracts import Estimate, EstimateRow, Span
from holodeck.lib.tokens import count_tokens
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import Fault, ModelServer, Reply
from holodeck.testing.graph_replies import GRAPH_REPLIES
from holodeck.testing.replies import ServerRequest
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

STEPS = ("extract", "glean", "summarize", "report", "claims")


def text_of(number: int) -> str:
    """Return a text of several chunks in which some names come back and others do not."""
    return " ".join(
        f"In the year {1800 + number}, Captain Ole{number} Berg sailed the Fram to Port{line}. "
        f"There he met Doctor Ida{number + line} Holm of the Royal Society, who had studied ice."
        for line in range(16)
    )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Return a server that counts tokens as a vendor does."""

    def counted(kind: str) -> Any:  # Any: a reply source
        usual = GRAPH_REPLIES[kind]

        def reply(request: ServerRequest) -> Reply:
            text = usual(request) if callable(usual) else usual
            assert isinstance(text, str)
            return Reply(
                text=text,
                prompt_tokens=sum(map(count_tokens, request.texts)),
                completion_tokens=count_tokens(text),
            )

        return reply

    with ModelServer() as running:
        for kind in STEPS:
            running.reply(kind, counted(kind))
        yield running


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder of four documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text(text_of(number), encoding="utf-8")
    return folder


def tool(
    server: ModelServer | None,
    docs: Path,
    engine: str = "graphrag",
    *,
    provider: str = "openai",
    name: str | None = "gpt-4o-mini",
    execution: dict[str, Any] | None = None,
    **graphrag: Any,
) -> VectorStoreTool:
    settings = {"engine": engine, "graphrag": graphrag or None}
    model: dict[str, Any] = {"provider": provider, "name": name}
    if server is not None:
        model |= {"api_base": server.url, "api_key": "k"}
    return VectorStoreTool(
        VectorstoreTool.model_validate({"name": "k", "source": str(docs), **settings}),
        str(docs.parent),
        ExecutionConfig.model_validate(execution or {}),
        agent_model=LLMProvider.model_validate(model),
        environ={},
    )


def row(estimate: Estimate, step: str) -> EstimateRow:
    (found,) = [each for each in estimate.rows if each.step == step]
    return found


def within(number: float, span: Span) -> bool:
    return span.low <= number <= span.high


def embedded(server: ModelServer) -> list[str]:
    """Return the texts that were embedded."""
    return [
        text for request in server.requests if request.kind == "embedding" for text in request.texts
    ]


async def build(built: VectorStoreTool) -> None:
    """Make or update the index."""
    await built.initialize()
    await built.close()


async def estimated_then_built(server: ModelServer, built: VectorStoreTool) -> Estimate:
    """Return what the build was to take; what it took is what the server counted."""
    estimate = await built.estimate()
    server.reset_counts()
    await build(built)
    return estimate


def check(estimate: Estimate, server: ModelServer) -> None:
    """Compare an estimate with what the server counted since."""
    for step in ("extract", "claims"):
        counted = server.counts[step]
        rows = [each for each in estimate.rows if each.step == step]
        assert sum(each.calls.low for each in rows) == counted.calls
        assert sum((each.input_tokens for each in rows), Span()) == Span.exactly(
            counted.prompt_tokens
        )
        assert within(counted.completion_tokens, sum((e.output_tokens for e in rows), Span()))
    texts = embedded(server)
    chats = [server.counts[step] for step in STEPS]
    assert within(len(texts), sum((each.texts for each in estimate.rows), Span()))
    assert within(sum(server.counts[kind].calls for kind in server.counts), estimate.calls)
    sent = sum(each.prompt_tokens for each in chats) + sum(map(count_tokens, texts)) + 2
    assert within(sent, estimate.input_tokens)
    assert within(sum(each.completion_tokens for each in chats) + 1, estimate.output_tokens)


@pytest.mark.parametrize("settings", [{}, {"skip_claim_extraction": False, "max_gleanings": 0}])
async def test_what_is_estimated_is_what_is_asked(
    server: ModelServer, docs: Path, settings: dict[str, Any]
) -> None:
    """Extraction and the texts of the documents exactly, everything within its range."""
    knowledge = tool(server, docs, **settings)
    estimate = await knowledge.estimate()

    assert server.requests == []
    assert [path.name for path in docs.parent.iterdir()] == ["docs"]
    assert estimate.reason == "there is no index yet"
    assert estimate.documents == 4

    await knowledge.initialize()
    await knowledge.close()

    check(estimate, server)
    units = row(estimate, "embed")
    assert units.texts == Span.exactly(estimate.chunks)
    assert estimate.cost is not None
    spending = knowledge.status().spending
    assert spending is not None
    assert within(sum(each.spent.cost for each in spending.build), estimate.cost)


async def test_once_extraction_is_done_the_rest_is_known(server: ModelServer, docs: Path) -> None:
    """Reports and summaries become numbers of calls; only lengths of replies are a range."""
    server.fault(Fault(kind="report", status=400))
    stopped = tool(server, docs)
    with pytest.raises(IndexingError):
        await stopped.initialize()
    await stopped.close()
    server.heal()
    estimate = await estimated_then_built(server, tool(server, docs))

    check(estimate, server)
    assert {each.step for each in estimate.rows}.isdisjoint({"extract", "glean", "summarize"})
    report = row(estimate, "report")
    assert report.calls == Span.exactly(server.counts["report"].calls)
    assert report.input_tokens.high <= 1.05 * report.input_tokens.low


async def test_what_is_kept_is_not_counted(server: ModelServer, docs: Path) -> None:
    """An index that is up to date takes nothing, one built again from the cache two words."""
    knowledge = tool(server, docs)
    await knowledge.initialize()

    assert await knowledge.estimate() == Estimate(reason=None)
    again = await knowledge.estimate(force_ingest=True)
    assert {each.step for each in again.rows} == {"probe chat", "probe embedding"}

    renewed = tool(server, docs, execution={"cache": "renew"})
    assert row(await renewed.estimate(force_ingest=True), "extract").calls.low == again.chunks

    (docs / "new.txt").write_text(text_of(77), encoding="utf-8")
    more = await knowledge.estimate()
    server.reset_counts()
    await knowledge.initialize(force_ingest=True)
    await knowledge.close()
    await renewed.close()

    assert more.reason == "the documents changed"
    assert 0 < row(more, "extract").calls.low < again.chunks / 2
    check(more, server)


async def test_the_default_engine_is_known_exactly(server: ModelServer, docs: Path) -> None:
    """It only embeds; what the index holds already is not counted."""
    knowledge = tool(server, docs, "default")
    estimate = await knowledge.estimate()
    await knowledge.initialize()

    embed = row(estimate, "embed")
    assert embed.texts == Span.exactly(len(embedded(server)))
    assert embed.input_tokens == Span.exactly(sum(map(count_tokens, embedded(server))))
    assert embed.calls == Span.exactly(server.counts["embedding"].calls)
    assert estimate.cost is not None
    assert estimate.cost.is_exact

    (docs / "new.txt").write_text("One short text more.", encoding="utf-8")
    assert row(await knowledge.estimate(), "embed").texts == Span.exactly(1)
    await knowledge.close()


async def test_an_unknown_price_is_unknown(docs: Path) -> None:
    """The tokens are said all the same, and whose price is missing; YAML may give it."""
    unknown = await tool(None, docs, name="my-model").estimate()
    prices = {"my-model": {"input": 1.0, "output": 2.0}}
    known = await tool(None, docs, name="my-model", execution={"prices": prices}).estimate()

    assert unknown.cost is None
    assert unknown.unpriced == ("openai/my-model",)
    assert unknown.input_tokens.low > 0
    assert known.cost is not None
    assert known.cost.low > 0


@pytest.mark.parametrize("engine", ["graphrag", "default"])
async def test_a_machine_of_ones_own_costs_nothing(docs: Path, engine: str) -> None:
    """Without a server there is nothing to ask; Ollama's calls are counted at no price."""
    embedded_tool = await tool(None, docs, engine, provider="embedded", name=None).estimate()
    ollama = await tool(None, docs, engine, provider="ollama", name="llama3.1").estimate()

    assert embedded_tool.reason is not None
    assert embedded_tool.rows == ()
    assert embedded_tool.cost == Span()
    assert ollama.calls.low > 0
    assert ollama.cost == Span()


async def test_a_missing_source_is_told(tmp_path: Path) -> None:
    """There is nothing to estimate."""
    with pytest.raises(SourceNotFoundError):
        await tool(None, tmp_path / "nowhere").estimate()


async def test_a_stopped_build_is_estimated_from_where_it_stopped(
    server: ModelServer, docs: Path
) -> None:
    """What a run with a cap paid for is not in the next estimate."""
    whole = await tool(server, docs).estimate()
    assert whole.cost is not None
    capped = tool(server, docs, execution={"max_cost": 0.013, "concurrency": 2})
    with pytest.raises(CostLimitError):
        await capped.initialize()
    rest = await capped.estimate()
    await capped.close()

    paid = server.counts["extract"].calls
    assert 0 < paid < whole.chunks
    assert row(rest, "extract").calls == Span.exactly(whole.chunks - paid)


def test_an_estimate_imports_neither_library_nor_provider(docs: Path) -> None:
    """It takes the caller neither seconds nor hundreds of megabytes."""
    code = f"""
import sys
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool
config = VectorstoreTool(name="k", engine="graphrag", source={str(docs)!r})
tool = VectorStoreTool(config, agent_model=LLMProvider(name="gpt-4o"), environ={{}})
assert tool.estimate_sync().cost.low > 0
heavy = {{"openai", "litellm", "lancedb", "graphrag.api", "graphrag.index", "nest_asyncio2"}}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=docs.parent,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.heavy
async def test_an_index_that_lost_its_replies_is_estimated_by_what_it_remembers(
    server: ModelServer, docs: Path
) -> None:
    """The build knows the steps of the published index, so nobody is told to pay for them."""
    await build(tool(server, docs))
    shutil.rmtree(docs.parent / ".holodeck" / "cache")
    (docs / "new.txt").write_text("One Short Text more.", encoding="utf-8")
    estimate = await estimated_then_built(server, tool(server, docs))

    assert row(estimate, "extract").calls == Span.exactly(1)
    check(estimate, server)


@pytest.mark.heavy
async def test_claims_are_estimated_over_chunks_that_are_extracted(
    server: ModelServer, docs: Path
) -> None:
    """Their replies are as long as their texts have names, though no extraction is due."""
    await build(tool(server, docs))
    estimate = await estimated_then_built(server, tool(server, docs, skip_claim_extraction=False))

    assert "extract" not in {each.step for each in estimate.rows}
    assert row(estimate, "claims").calls.low > 0
    check(estimate, server)


@pytest.mark.parametrize(
    "settings", [{"chunk_size": 60, "chunk_overlap": 10, "summarize": "always"}, {}]
)
async def test_few_names_that_are_all_linked_and_none_at_all_are_within_the_range(
    server: ModelServer, docs: Path, settings: dict[str, Any]
) -> None:
    """Every pair of a dense graph may be summarised; a model may find nothing in any text."""
    if not settings:
        for kind in ("extract", "glean"):
            server.reply(kind, Reply(text="<|COMPLETE|>", completion_tokens=5))
        (docs / "plain.txt").write_text("names nobody. " * 50, encoding="utf-8")
    people = ("Ann Lee", "Bob Ray", "Cara Fox", "Dan Orr", "Eva Nagy")
    lines = [f"{a} met {b} in {1900 + n}." for n in range(6) for a in people for b in people]
    (docs / "few.txt").write_text(" ".join(lines), encoding="utf-8")
    estimate = await estimated_then_built(server, tool(server, docs, **settings))

    counted = [server.counts[kind] for kind in server.counts]
    assert within(sum(each.calls for each in counted), estimate.calls)
    assert within(sum(each.completion_tokens for each in counted), estimate.output_tokens)
