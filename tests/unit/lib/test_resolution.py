"""What a tool's model settings leave out, and from where it is filled in."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from holodeck.errors import ConfigError
from holodeck.lib.providers import ProviderRow
from holodeck.lib.resolution import resolve_tool
from holodeck.models.llm import LLMProvider, ModelSettings, ProviderName
from holodeck.models.tool import GraphRAGConfig, GraphRAGModelConfig, VectorstoreTool

TABLE: dict[ProviderName, ProviderRow] = {
    name: ProviderRow(
        embedder="x:X",
        chat="x:X",
        chat_default=f"{name}-chat",
        index_default=f"{name}-index",
        embedding_default=f"{name}-embedding",
    )
    for name in ("azure_openai", "ollama")
}


def graph_tool(**graph: Any) -> VectorstoreTool:
    """Return a graph tool with these settings (Any: fields of ``graphrag``)."""
    return VectorstoreTool(
        name="t", source="docs", engine="graphrag", graphrag=GraphRAGConfig(**graph)
    )


def models(tool: VectorstoreTool) -> tuple[GraphRAGModelConfig, GraphRAGModelConfig]:
    """Return the indexing and the search model of a resolved tool."""
    assert tool.graphrag is not None
    assert tool.graphrag.indexing_model is not None
    assert tool.graphrag.search_model is not None
    return tool.graphrag.indexing_model, tool.graphrag.search_model


def test_alone_a_tool_uses_openais_models() -> None:
    """With no agent and nothing written: a cheap model to index, a better one to search."""
    resolved = resolve_tool(graph_tool())

    indexing, search = models(resolved.tool)
    assert (indexing.provider, indexing.name) == ("openai", "gpt-4o-mini")
    assert (search.provider, search.name) == ("openai", "gpt-4o")
    assert resolved.embedding == ModelSettings(provider="openai", name="text-embedding-3-small")


def test_the_agents_model_fills_every_field() -> None:
    """A tool without models works with the agent's, its server and its key included."""
    agent = LLMProvider(
        provider="ollama", name="llama", temperature=None, api_base="http://box", api_key="k"
    )

    resolved = resolve_tool(graph_tool(), agent, table=TABLE)

    for model in models(resolved.tool):
        assert model.model_dump() == agent.model_dump()
    assert resolved.embedding == ModelSettings(
        provider="ollama", name="ollama-embedding", api_base="http://box", api_key="k"
    )


def test_an_agent_without_a_name_leaves_the_providers_defaults() -> None:
    """Indexing and search have a default of their own at each provider."""
    resolved = resolve_tool(graph_tool(), LLMProvider(provider="ollama"), table=TABLE)

    assert [model.name for model in models(resolved.tool)] == ["ollama-index", "ollama-chat"]


def test_a_block_keeps_what_it_sets_field_by_field() -> None:
    """What is written wins, also where it equals a default; the rest is the agent's."""
    agent = LLMProvider(
        provider="azure_openai",
        name="big",
        temperature=0.7,
        max_tokens=900,
        api_base="https://az",
        deployment_name="big-deployment",
    )
    tool = graph_tool(
        indexing_model=GraphRAGModelConfig(name="small", temperature=0.0),
        search_model=GraphRAGModelConfig(max_tokens=50),
    )

    indexing, search = models(resolve_tool(tool, agent, table=TABLE).tool)

    assert indexing == GraphRAGModelConfig(
        provider="azure_openai",
        name="small",
        temperature=0.0,
        max_tokens=900,
        api_base="https://az",
        deployment_name=None,  # the agent's deployment serves the agent's model
    )
    assert search.model_dump() == agent.model_copy(update={"max_tokens": 50}).model_dump()


def test_another_provider_takes_nothing_from_the_agent() -> None:
    """A key or server never reaches a provider that it does not belong to."""
    agent = LLMProvider(
        provider="azure_openai", name="big", temperature=0.7, api_key="k", api_base="https://az"
    )
    tool = graph_tool(indexing_model=GraphRAGModelConfig(provider="ollama"))

    resolved = resolve_tool(tool, agent, table=TABLE)

    indexing, search = models(resolved.tool)
    assert indexing == GraphRAGModelConfig(provider="ollama", name="ollama-index")
    assert search.model_dump() == agent.model_dump()
    assert (resolved.embedding.provider, resolved.embedding.api_base) == (
        "azure_openai",
        "https://az",
    )


@pytest.mark.parametrize("written", ["indexing_model", "search_model"])
def test_without_an_agent_one_block_stands_in_for_it(written: str) -> None:
    """The other block takes provider, server and key along, so that no other server is reached."""
    block = GraphRAGModelConfig(provider="ollama", name="llama", api_base="http://box", api_key="k")

    resolved = resolve_tool(graph_tool(**{written: block}), table=TABLE)

    for model in models(resolved.tool):
        assert model.model_dump() == block.model_dump()
    assert (resolved.embedding.provider, resolved.embedding.api_base) == ("ollama", "http://box")


def test_at_the_vendors_server_each_block_has_its_own_default() -> None:
    """Naming the model to index with does not choose the model to search with."""
    tool = graph_tool(indexing_model=GraphRAGModelConfig(provider="openai", name="gpt-x"))

    indexing, search = models(resolve_tool(tool).tool)

    assert (indexing.name, search.name) == ("gpt-x", "gpt-4o")


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (graph_tool(), "text-embedding-3-small"),
        (
            VectorstoreTool(name="t", source="docs", engine="graphrag", embedding_model="of-tool"),
            "of-tool",
        ),
        (
            VectorstoreTool(
                name="t",
                source="docs",
                engine="graphrag",
                embedding_model="of-tool",
                graphrag=GraphRAGConfig(embedding_model="of-graph"),
            ),
            "of-graph",
        ),
        (VectorstoreTool(name="t", source="docs"), "text-embedding-3-small"),
        (VectorstoreTool(name="t", source="docs", embedding_model="of-tool"), "of-tool"),
    ],
)
def test_the_embedding_model_is_the_nearest_that_is_named(tool: VectorstoreTool, name: str) -> None:
    """The graph block's, then the tool's, then the provider's default, for both engines."""
    resolved = resolve_tool(tool)

    assert resolved.embedding.name == name
    assert resolved.tool.embedding_model == name
    if resolved.tool.graphrag is not None:
        assert resolved.tool.graphrag.embedding_model == name


def test_the_tool_itself_is_not_changed() -> None:
    """Resolving makes a copy; everything that is no model stays as it was."""
    tool = graph_tool(chunk_size=400)
    before = tool.model_dump()

    resolved = resolve_tool(tool)

    assert tool.model_dump() == before
    assert resolved.tool.graphrag is not None
    assert resolved.tool.graphrag.chunk_size == 400


def test_a_provider_of_a_later_version_is_refused_by_name() -> None:
    """The message says which providers there are and the error where the name stands."""
    with pytest.raises(ConfigError, match="'ollama' is not supported by this version yet") as error:
        resolve_tool(graph_tool(indexing_model={"provider": "ollama"}), table={})

    assert error.value.field == "graphrag.indexing_model.provider"


def test_what_was_filled_in_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """Each filled-in model is named with the place it came from, once per process."""
    agent = LLMProvider(provider="ollama", name="llama")
    tool = graph_tool(search_model={"provider": "azure_openai"}).model_copy(
        update={"name": "logged-once"}
    )

    with caplog.at_level(logging.INFO, logger="holodeck"):
        resolve_tool(tool, agent, table=TABLE)
        resolve_tool(tool, agent, table=TABLE)

    assert caplog.messages == [
        "tool 'logged-once': indexing model llama (ollama, from the agent's model)",
        "tool 'logged-once': search model azure_openai-chat (azure_openai, its default)",
        "tool 'logged-once': embedding model ollama-embedding (ollama, its default)",
    ]
