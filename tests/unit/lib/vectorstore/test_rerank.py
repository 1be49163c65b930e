"""Reranking: around the default engine's search, over each provider's format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import AuthenticationError, ConfigError, CostLimitError, ProviderError
from holodeck.lib.contracts import Candidate, Reranker
from holodeck.lib.providers.rerank_http import search_units
from holodeck.lib.resources import Resources
from holodeck.lib.results import SearchResult
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.reranker import RerankerConfig
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import Fault, ModelServer
from holodeck.testing.project import FACTS, write_documents
from holodeck.tools.checks import find_model_problems
from holodeck.tools.vectorstore_tool import VectorStoreTool

KEY = "sk-rerank-canary"
EMBEDDED = LLMProvider(provider="embedded")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server that scores passages by the words they share with the question."""
    with ModelServer(api_key=KEY) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents; the index is built once."""
    made = tmp_path_factory.mktemp("rerank")
    write_documents(made)
    return made


async def ask(
    folder: Path,
    reranker: dict[str, Any] | None,
    question: str = FACTS["text"].question,
    **more: Any,
) -> SearchResult:
    """Ask a tool that reranks by a reranker."""
    config = VectorstoreTool.model_validate(
        {"name": "knowledge", "source": "docs", "rerank": True, "reranker": reranker, **more}
    )
    execution = ExecutionConfig(max_retries=0, llm_timeout=5)
    tool = VectorStoreTool(
        config, str(folder), execution, agent_model=EMBEDDED, environ={"COHERE_API_KEY": KEY}
    )
    try:
        await tool.initialize()
        return await tool.retrieve(question)
    finally:
        await tool.close()


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v2/rerank"])
@pytest.mark.parametrize("provider", ["cohere", "vllm"])
async def test_passages_come_in_the_order_of_the_reranker(
    provider: str, suffix: str, folder: Path, server: ModelServer
) -> None:
    """The server sees the question and more passages than are returned; its scores are shown."""
    server.reply("rerank", lambda request: [float("Vega" in text) for text in request.texts])
    settings = {"provider": provider, "name": "any", "api_base": server.root + suffix}
    if provider == "vllm":
        settings["api_key"] = KEY
    result = await ask(folder, settings, top_k=1)

    assert [passage.source.path for passage in result.passages] == ["bob.md"]
    assert result.passages[0].score == 1.0
    (request,) = [each for each in server.requests if each.kind == "rerank"]
    assert request.path == ("/v2/rerank" if provider == "cohere" else "/v1/rerank")
    assert (request.body["query"], request.model) == (FACTS["text"].question, "any")
    assert len(request.texts) > 1


async def test_without_a_server_words_decide(folder: Path) -> None:
    """The embedded reranker asks nobody, keeps every passage and gives scores from 0 to 1."""
    result = await ask(folder, None)

    assert result.passages[0].source.path == FACTS["text"].place.path
    assert all(0 <= passage.score <= 1 for passage in result.passages)


@pytest.mark.parametrize(
    "fault",
    [Fault(status=429), Fault(status=503), Fault(cut_stream=True)],
    ids=["rate limit", "down", "cut"],
)
async def test_a_passing_failure_leaves_the_order_and_says_so(
    fault: Fault, folder: Path, server: ModelServer
) -> None:
    """The user gets what the search found, with a note."""
    server.fault(fault)
    result = await ask(folder, {"provider": "cohere", "api_base": server.root})

    assert result.passages[0].source.path == FACTS["text"].place.path
    assert "not reranked" in result.notes[0]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=401), AuthenticationError),
        (Fault(status=404), ProviderError),
        (Fault(malformed=True), ProviderError),
        (Fault(not_json=True), ProviderError),
    ],
    ids=["wrong key", "no such model", "a score is missing", "a web page"],
)
async def test_a_lasting_failure_is_an_error(
    fault: Fault, error: type[ProviderError], folder: Path, server: ModelServer
) -> None:
    """What will not pass is told at once, without the key."""
    server.fault(fault)
    with pytest.raises(error) as caught:
        await ask(folder, {"provider": "cohere", "api_base": server.root})
    assert "reranker" in str(caught.value)
    assert KEY not in str(caught.value)


async def test_a_score_that_is_no_number_is_an_error(folder: Path, server: ModelServer) -> None:
    """What cannot be ordered by is no answer."""
    server.reply("rerank", lambda request: [float("nan") for _ in request.texts])
    with pytest.raises(ProviderError, match="0 scores for"):
        await ask(folder, {"provider": "cohere", "api_base": server.root})


def test_a_password_in_the_address_stands_in_no_repr() -> None:
    """Neither it nor the key, however the settings are printed."""
    tool = VectorstoreTool.model_validate(
        {
            "name": "k",
            "source": "docs",
            "rerank": True,
            "reranker": {
                "provider": "cohere",
                "api_key": KEY,
                "api_base": "https://me:hidden@127.0.0.1",
            },
        }
    )
    assert "hidden" not in repr(tool)
    assert KEY not in repr(tool)


def test_a_missing_key_is_found_without_a_call() -> None:
    """``validate`` names the variable and the setting."""
    tool = VectorstoreTool.model_validate(
        {"name": "k", "source": "docs", "rerank": True, "reranker": {"provider": "cohere"}}
    )
    (problem,) = find_model_problems(tool, agent_model=EMBEDDED, environ={})
    assert isinstance(problem, ConfigError)
    assert "COHERE_API_KEY" in str(problem)
    assert problem.field == "reranker.api_key"


def passages(*texts: str) -> list[Candidate]:
    return [Candidate(text=text, score=0.0) for text in texts]


def open_cohere(server: ModelServer, **execution: Any) -> tuple[Resources, Reranker]:
    """Return resources and a reranker of theirs."""
    resources = Resources(
        ExecutionConfig(max_retries=0, **execution), environ={"COHERE_API_KEY": KEY}
    )
    settings = RerankerConfig(provider="cohere", api_base=server.root)
    return resources, resources.reranker(settings)


async def test_what_is_billed_is_counted(server: ModelServer) -> None:
    """By the units that the answer says, and not by those expected, at the price of the table."""
    long = ["word " * 600] * 60
    assert search_units("who?", long) == 2
    resources, reranker = open_cohere(server)
    await reranker.rerank("who?", passages(*long))
    await resources.close()

    (row,) = resources.meter.rows()
    assert (row.provider, row.model, row.purpose) == ("cohere", "rerank-v3.5", "rerank")
    assert (row.spent.calls, row.spent.unpriced) == (1, 0)
    assert row.spent.cost == pytest.approx(0.002)


async def test_a_failure_costs_nothing(server: ModelServer) -> None:
    """What was not answered is not counted."""
    server.fault(Fault(status=503))
    resources, reranker = open_cohere(server)
    with pytest.raises(ProviderError):
        await reranker.rerank("who?", passages("ann"))
    await resources.close()

    assert resources.meter.rows() == ()


async def test_a_cap_holds_for_searches(server: ModelServer) -> None:
    """The search that could pass it is not sent."""
    resources, reranker = open_cohere(server)
    with resources.capped(0.005):
        for _ in range(2):
            await reranker.rerank("who?", passages("ann"))
        with pytest.raises(CostLimitError):
            await reranker.rerank("who?", passages("ann"))
    await resources.close()

    assert len([each for each in server.requests if each.kind == "rerank"]) == 2


async def test_a_model_without_a_price_is_counted_as_that(server: ModelServer) -> None:
    """Never as free of charge."""
    resources = Resources(environ={"COHERE_API_KEY": KEY})
    settings = RerankerConfig(provider="cohere", name="rerank-v9", api_base=server.root)
    await resources.reranker(settings).rerank("who?", passages("ann"))
    await resources.close()

    assert resources.meter.total().unpriced == 1


@pytest.mark.parametrize(
    ("passage_words", "count", "units"), [(1, 50, 1), (1, 101, 2), (600, 60, 2), (40, 100, 1)]
)
def test_long_passages_count_as_several(passage_words: int, count: int, units: int) -> None:
    """As Cohere counts: 100 passages a unit, of at most 500 tokens with the question."""
    assert search_units("who?", ["word " * passage_words] * count) == units


def test_a_cap_without_a_price_is_found_without_a_call() -> None:
    """As for any model that a test asks; the message says where the price belongs."""
    tool = VectorstoreTool.model_validate(
        {
            "name": "k",
            "source": "docs",
            "rerank": True,
            "reranker": {"provider": "cohere", "name": "rerank-v9", "api_key": KEY},
        }
    )
    for prices, problems in (({}, 1), ({"rerank-v9": {"search": 2}}, 0)):
        execution = ExecutionConfig.model_validate({"max_cost": 1, "prices": prices})
        found = find_model_problems(
            tool, agent_model=EMBEDDED, execution=execution, environ={}, is_asked=True
        )
        assert len(found) == problems
        assert all("{rerank-v9: {search: …}}" in str(problem) for problem in found)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"reranker": {}}, "reranker has no effect without rerank: true"),
        ({"rerank_top_n": 10}, "rerank_top_n has no effect without rerank: true"),
        ({"rerank": True, "rerank_top_n": 2}, r"rerank_top_n \(2\) must be at least top_k \(5\)"),
        ({"rerank": True, "reranker": {"provider": "vllm"}}, "needs name and api_base"),
        ({"rerank": True, "reranker": {"name": "x"}}, "name has no effect with provider: embedded"),
        ({"engine": "graphrag", "rerank": True}, "rerank has no effect with engine: graphrag"),
    ],
)
def test_what_would_be_ignored_is_refused(settings: dict[str, Any], told: str) -> None:
    """Each message says what to do."""
    with pytest.raises(ValueError, match=told):
        VectorstoreTool.model_validate({"name": "k", "source": "docs", **settings})
