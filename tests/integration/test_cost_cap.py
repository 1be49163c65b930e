"""Builds that may cost only so much: what they spend, keep and go on from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.errors import ConfigError, CostLimitError
from holodeck.lib.contracts import MeterRow
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import ModelServer, Reply
from holodeck.testing.graph_replies import GRAPH_REPLIES
from holodeck.testing.replies import ServerRequest
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PEOPLE = [f"Ann{n} Lee{n}" for n in range(8)]
CALL = 0.01
"""USD that a call of the chat model takes: the server says of each answer that it has 10,000
tokens, which is the most that the model gives."""
PRICES = {
    "chatty": {"input": 0.0, "output": 1.0, "max_output": 10_000},
    "text-embedding-3-small": {"input": 0.0},
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Return a server whose every answer takes 10,000 tokens."""
    with ModelServer() as running:
        for kind in ("extract", "glean", "report", "summarize"):
            running.reply(kind, priced(kind))
        yield running


def priced(kind: str) -> Callable[[ServerRequest], Reply]:
    """Return a source of the usual replies, each of which takes 10,000 tokens."""
    usual = GRAPH_REPLIES[kind]

    def reply(request: ServerRequest) -> Reply:
        text = usual(request) if callable(usual) else usual
        assert isinstance(text, str)
        return Reply(text=text, prompt_tokens=1, completion_tokens=10_000)

    return reply


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder of eight documents, one chunk each."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, name in enumerate(PEOPLE):
        (folder / f"{number}.txt").write_text(f"{name} works for Acme Corp.", encoding="utf-8")
    return folder


def tool(
    server: ModelServer,
    docs: Path,
    engine: str = "graphrag",
    *,
    embedding: str = "text-embedding-3-small",
    **execution: Any,
) -> VectorStoreTool:  # Any: fields
    settings = {"max_gleanings": 1} if engine == "graphrag" else None
    return VectorStoreTool(
        VectorstoreTool.model_validate(
            {
                "name": "people",
                "engine": engine,
                "source": str(docs),
                "graphrag": settings,
                "embedding_model": embedding,
            }
        ),
        str(docs.parent),
        ExecutionConfig.model_validate({"prices": PRICES, **execution}),
        agent_model=LLMProvider.model_validate(
            {"name": "chatty", "api_base": server.url, "api_key": "k"}
        ),
        environ={},
    )


def asked(server: ModelServer) -> Counter[str]:
    """Return the calls of the work by kind."""
    return Counter({kind: count.calls for kind, count in server.counts.items() if kind != "probe"})


def cost(rows: object) -> float:
    assert isinstance(rows, tuple | list)
    return sum(row.spent.cost for row in rows if isinstance(row, MeterRow))


async def test_a_capped_build_goes_on_and_pays_for_nothing_twice(
    server: ModelServer, docs: Path, tmp_path: Path
) -> None:
    """Each run stops below its cap and publishes nothing; all of them cost what one would."""
    whole = tool(server, docs)
    await whole.initialize()
    price = asked(server)
    total = whole.status().spending
    assert total is not None
    await whole.close()
    server.reset_counts()
    other = tmp_path / "capped"
    other.mkdir()
    (other / "docs").symlink_to(docs)

    capped = tool(server, other / "docs", max_cost=5.5 * CALL, concurrency=3)
    stops = 0
    while True:
        before = sum(asked(server).values())
        try:
            await capped.initialize()
        except CostLimitError as error:
            stops += 1
            assert "$0.0550" in str(error)
            assert "run 'holodeck index' again" in str(error)
            assert capped.status().indexed_at is None
            assert 0 < sum(asked(server).values()) - before <= 5 + server.counts["embedding"].calls
        else:
            break
    await capped.close()

    assert stops >= 2
    assert asked(server) == price
    state = capped.status()
    assert state.spending is not None
    assert cost(state.spending.total) == pytest.approx(cost(total.total), rel=0.01)
    assert cost(state.spending.build) <= 5.5 * CALL


async def test_a_cap_holds_over_all_calls_in_flight(server: ModelServer, docs: Path) -> None:
    """However many calls may be in flight, together they never pass the cap."""
    capped = tool(server, docs, max_cost=3.5 * CALL, concurrency=25)

    with pytest.raises(CostLimitError):
        await capped.initialize()
    await capped.close()

    assert asked(server) == {"extract": 3}
    spending = capped.status().spending
    assert spending is not None
    assert cost(spending.total) == pytest.approx(3 * CALL, rel=0.01)


async def test_an_unknown_price_is_told_before_anything_is_asked(
    server: ModelServer, docs: Path
) -> None:
    """A cap that cannot hold is a configuration error that names the model and the mend."""
    for engine, unknown in (("graphrag", "chatty"), ("default", "mine")):
        capped = tool(server, docs, engine, max_cost=1.0, prices={}, embedding=unknown)

        with pytest.raises(ConfigError, match=rf"'{unknown}'.*execution\.prices"):
            await capped.initialize()
        await capped.close()

    assert server.requests == []


async def test_vectors_are_capped_and_kept(server: ModelServer, docs: Path) -> None:
    """The default engine stops before the batch that could pass the cap, and goes on behind it."""
    prices = {"text-embedding-3-small": {"input": 1000.0}}
    capped = tool(server, docs, "default", max_cost=0.001, prices=prices)
    with pytest.raises(CostLimitError, match="next call may cost"):
        await capped.initialize()
    await capped.close()
    enough = tool(server, docs, "default", max_cost=10.0, prices=prices)
    await enough.initialize()
    await enough.close()

    assert server.counts["embedding"].calls == 1
    state = enough.status()
    assert state.spending is not None
    assert [row.purpose for row in state.spending.build] == ["embed", "probe"]


async def test_what_an_index_cost_is_remembered(server: ModelServer, docs: Path) -> None:
    """The build, all builds, and what was taken from the cache; a rebuild from it costs nothing."""
    built = tool(server, docs)
    await built.initialize()
    first = built.status().spending
    assert first is not None
    assert first.taken == 0
    assert (
        cost(first.build)
        == cost(first.total)
        == pytest.approx(
            CALL * sum(asked(server)[kind] for kind in ("extract", "glean", "report", "summarize")),
            rel=0.01,
        )
    )

    await built.initialize(force_ingest=True)
    again = built.status().spending
    await built.close()

    assert again is not None
    assert {row.purpose for row in again.build} == {"probe"}
    assert again.taken > len(PEOPLE)
    assert cost(again.total) == pytest.approx(cost(first.total), rel=0.01)


async def test_an_unknown_price_is_said_to_be_unknown(server: ModelServer, docs: Path) -> None:
    """Without a cap the build runs; its calls are counted, its money is not made up."""
    built = tool(server, docs, prices={})
    await built.initialize()
    spending = built.status().spending
    await built.close()

    assert spending is not None
    unpriced = {row.purpose for row in spending.build if row.spent.unpriced}
    assert {"extract", "glean", "report"} <= unpriced
    assert all(row.spent.cost == 0 for row in spending.build if row.spent.unpriced)
