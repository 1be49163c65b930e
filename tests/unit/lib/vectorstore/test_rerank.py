"""Reranking: around the default engine's search, over each provider's format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import AuthenticationError, ConfigError, ProviderError
from holodeck.lib.results import SearchResult
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
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
