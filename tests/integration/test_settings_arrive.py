"""Each setting of YAML has its effect: on the wire, or in the tables."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.communities import SCHEMES, Scheme, find_communities
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.prepare import prepare
from holodeck.lib.graphrag.rehearse import imagined, rehearse
from holodeck.lib.graphrag.tables import read_rows
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.source import read_source
from holodeck.lib.resources import resolve_tool
from holodeck.lib.unasked import UnaskedResources
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import ModelServer, ServerRequest

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.xdist_group("settings arrive")]

TEXT = " ".join(f"Person Number{n} works for Acme Corp in San Francisco." for n in range(40))


@dataclass(frozen=True)
class Outcome:
    """What a build and two questions put on the wire and into the tables."""

    requests: Mapping[str, list[ServerRequest]]
    tokens: list[int]
    has_claims: bool


def run(folder: Path, settings: Mapping[str, object], agent: Mapping[str, object]) -> Outcome:
    """Build, ask locally and globally, and return what was seen."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.txt").write_text(TEXT, encoding="utf-8")

    async def work(server: ModelServer) -> GraphRAGEngine:
        graph = GraphRAGEngine(
            VectorstoreTool(
                name="k",
                engine="graphrag",
                source="docs",
                graphrag=GraphRAGConfig.model_validate(settings),
            ),
            str(folder),
            ExecutionConfig(),
            agent_model=LLMProvider.model_validate({**agent, "api_base": server.url}),
            environ={"OPENAI_API_KEY": "k"},
        )
        await graph.initialize()
        await graph.retrieve("Who works for Acme Corp?", mode="local")
        await graph.retrieve("What is this about?", mode="global")
        await graph.close()
        return graph

    with ModelServer() as server:
        graph = asyncio.run(work(server))
        requests: dict[str, list[ServerRequest]] = {}
        for request in server.requests:
            requests.setdefault(request.kind, []).append(request)
    output = graph.storage.output_dir
    return Outcome(
        requests=requests,
        tokens=[row["n_tokens"] for row in read_rows(output, "text_units", ["n_tokens"])],
        has_claims=(output / "covariates.parquet").exists(),
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """What happens where the user sets nothing but the agent's model."""
    yield run(tmp_path_factory.mktemp("plain"), {}, {"provider": "openai", "name": "gpt-4o"})


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """What happens where every setting is another."""
    settings = {
        "entity_types": ["ship", "glacier"],
        "max_gleanings": 2,
        "chunk_size": 60,
        "chunk_overlap": 10,
        "skip_claim_extraction": False,
        "embedding_model": "text-embedding-3-large",
        "response_type": "one line, in Chinese",
        "indexing_model": {"name": "o3-mini", "temperature": None, "max_tokens": 777},
        "search_model": {"name": "gpt-4o-mini", "temperature": 0.5, "max_tokens": 333},
    }
    agent = {"provider": "openai", "name": "gpt-4o"}
    yield run(tmp_path_factory.mktemp("changed"), settings, agent)


def bodies(outcome: Outcome, kind: str, key: str) -> set[object]:
    """Return the values that requests of ``kind`` have under ``key``; "absent" where none."""
    return {request.body.get(key, "absent") for request in outcome.requests[kind]}


def test_the_agents_model_is_used_for_everything(plain: Outcome) -> None:
    """Nothing set: the agent's model indexes and answers, the provider's default embeds."""
    for kind in ("extract", "report", "local", "map", "reduce"):
        assert bodies(plain, kind, "model") == {"gpt-4o"}
    assert bodies(plain, "embedding", "model") == {"text-embedding-3-small"}


def test_each_model_is_used_for_its_own_calls(changed: Outcome) -> None:
    """Indexing, search and embedding model never stand in for each other."""
    for kind in ("extract", "glean", "claims", "report"):
        assert bodies(changed, kind, "model") == {"o3-mini"}
    for kind in ("local", "map", "reduce"):
        assert bodies(changed, kind, "model") == {"gpt-4o-mini"}
    assert bodies(changed, "embedding", "model") == {"text-embedding-3-large"}


def test_temperature_is_sent_as_set_and_null_sends_none(plain: Outcome, changed: Outcome) -> None:
    """The default is 0; null leaves the field out, which reasoning models need."""
    assert bodies(plain, "extract", "temperature") == {0.0}
    assert bodies(changed, "extract", "temperature") == {"absent"}
    assert bodies(changed, "local", "temperature") == {0.5}


def test_max_tokens_goes_under_the_name_that_the_model_takes(
    plain: Outcome, changed: Outcome
) -> None:
    """Not set, not sent; reasoning models have a field of their own."""
    assert bodies(plain, "extract", "max_tokens") == {"absent"}
    assert bodies(changed, "extract", "max_completion_tokens") == {777}
    assert bodies(changed, "extract", "max_tokens") == {"absent"}
    assert bodies(changed, "local", "max_tokens") == {333}


def test_entity_types_stand_in_the_prompt(plain: Outcome, changed: Outcome) -> None:
    """The plan's types where none are set."""
    default = "Entity_types: organization,person,location,event,concept"

    assert all(default in request.text for request in plain.requests["extract"])
    assert all("Entity_types: ship,glacier" in r.text for r in changed.requests["extract"])


def test_gleanings_are_turns(plain: Outcome, changed: Outcome) -> None:
    """One further turn a chunk by default; of two, the second is asked about first."""
    assert len(plain.requests["glean"]) == len(plain.requests["extract"])
    assert len(changed.requests["glean"]) > len(changed.requests["extract"])


def test_chunk_size_bounds_the_text_units(plain: Outcome, changed: Outcome) -> None:
    """``n_tokens`` says so."""
    assert max(plain.tokens) <= 300
    assert max(changed.tokens) <= 60
    assert len(changed.tokens) > len(plain.tokens)


def test_claims_are_extracted_only_on_request(plain: Outcome, changed: Outcome) -> None:
    """The default skips them: no call and no table."""
    assert "claims" not in plain.requests
    assert not plain.has_claims
    assert changed.has_claims


def test_the_form_of_the_answer_stands_in_the_search_prompts(
    plain: Outcome, changed: Outcome
) -> None:
    """Language and form of an answer can be asked for."""
    for kind in ("local", "reduce"):
        assert all("multiple paragraphs" in r.text for r in plain.requests[kind])
        assert all("one line, in Chinese" in r.text for r in changed.requests[kind])


async def test_communities_are_made_as_set(tmp_path: Path) -> None:
    """The table and the rehearsal of an estimate hold what the setting asks for.

    Another value is another index, and says so.
    """
    (tmp_path / "docs").mkdir()
    route = [f"Port {chr(65 + n)}{chr(97 + n)}o" for n in range(14)]
    for number, (start, end) in enumerate(pairwise(route)):
        text = f"From {start} the ferry sails to {end}."
        (tmp_path / "docs" / f"{number:02}.txt").write_text(text, encoding="utf-8")
    found: dict[Scheme, list[tuple[int, int]]] = {}
    for scheme in SCHEMES:
        config = VectorstoreTool(
            name="k",
            engine="graphrag",
            source="docs",
            graphrag=GraphRAGConfig(communities=scheme),
        )
        agent = LLMProvider(provider="embedded")
        graph = GraphRAGEngine(config, str(tmp_path), agent_model=agent)
        why = graph.indexer.stale_reason(tmp_path / "docs")
        await graph.initialize()
        tables = graph.storage.output_dir
        rows = read_rows(tables, "communities", ["level", "size"])
        found[scheme] = [(row["level"], row["size"]) for row in rows]
        edges = read_rows(tables, "relationships", ["source", "target", "weight"])
        wanted = find_communities([(e["source"], e["target"], e["weight"]) for e in edges], scheme)
        await graph.close()
        rehearsal = await rehearse(
            prepare(read_source(tmp_path / "docs", ReadOptions()).documents, 300, 100),
            resolve_tool(config, agent),
            UnaskedResources(ExecutionConfig(), cache_dir=None, imagine=imagined),
        )

        assert found[scheme] == [(each.level, len(each.members)) for each in wanted]
        assert rehearsal.communities == len(wanted)

    assert len(found["leiden"]) != len(found["stable"])
    assert why == 'settings changed (graphrag.communities: "leiden" → "stable")'
