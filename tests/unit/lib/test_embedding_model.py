"""An embedding model may be a name, or a block with a provider and a server of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from holodeck.config.loader import load_agent
from holodeck.errors import ConfigError
from holodeck.lib.resources import resolve_tool
from holodeck.models.llm import EmbeddingModelConfig, LLMProvider, ModelSettings
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.checks import find_model_problems

AGENT = LLMProvider(provider="openai", name="gpt-4o", api_base="http://chat", api_key="k")


def tool(embedding_model: Any = None, graph: Any = None) -> VectorstoreTool:
    """Return a graph tool with this embedding model at the tool and in its graph block."""
    return VectorstoreTool.model_validate(
        {
            "name": "t",
            "source": "docs",
            "engine": "graphrag",
            "embedding_model": embedding_model,
            "graphrag": {"embedding_model": graph},
        }
    )


def test_a_name_stays_a_name() -> None:
    """The short form is a text, and everything else is the agent's."""
    made = tool("e")

    assert made.embedding_model == "e"
    assert resolve_tool(made, AGENT).embedding == ModelSettings(
        provider="openai", name="e", api_base="http://chat", api_key="k"
    )


def test_a_block_with_a_server_of_its_own_keeps_the_agents_provider_and_key() -> None:
    """What the block leaves out is the agent's; a name left out is the provider's default."""
    resolved = resolve_tool(tool({"api_base": "http://vectors"}), AGENT)

    assert resolved.embedding == ModelSettings(
        provider="openai",
        name="text-embedding-3-small",
        api_base="http://vectors",
        api_key="k",
    )
    assert resolved.tool.embedding_model == "text-embedding-3-small"


def test_a_block_of_another_provider_takes_nothing_from_the_agent() -> None:
    """No key and no server goes to another vendor."""
    resolved = resolve_tool(tool({"provider": "ollama"}), AGENT)

    assert resolved.embedding == ModelSettings(provider="ollama", name="nomic-embed-text")


def test_the_nearest_setting_counts_as_a_whole() -> None:
    """The graph block's goes before the tool's, and nothing of the farther one is mixed in."""
    farther = {"name": "far", "api_base": "http://far"}
    resolved = resolve_tool(tool(farther, {"name": "near"}), AGENT)

    assert (resolved.embedding.name, resolved.embedding.api_base) == ("near", "http://chat")
    assert resolved.embedding_where == "graphrag.embedding_model"
    assert resolve_tool(tool(farther), AGENT).embedding_where == "embedding_model"


def test_the_endpoint_is_the_servers_other_name() -> None:
    """As in every other block."""
    assert EmbeddingModelConfig.model_validate({"endpoint": "http://e"}).api_base == "http://e"


@pytest.mark.parametrize("wrong", [{"nam": "e"}, {"name": ""}, {"api_key": "${KEY}"}, "", 5, []])
def test_a_wrong_block_is_refused(wrong: object) -> None:
    """Unknown keys, empty names and keys that are none."""
    with pytest.raises(ValidationError):
        tool(wrong)


@pytest.mark.parametrize(
    ("written", "line", "said"),
    [
        ("{nam: e}", 6, "did you mean 'name'"),
        ("{provider: olama}", 6, "provider must be"),
        ("[e]", 6, "embedding_model must be text"),
        ("''", 6, "embedding_model must not be empty"),
    ],
)
def test_a_mistake_is_placed_in_the_file(
    tmp_path: Path, written: str, line: int, said: str
) -> None:
    """File, line and field are the user's own, whichever form was tried."""
    file = tmp_path / "agent.yaml"
    file.write_text(
        "name: a\nmodel: {provider: openai}\ntools:\n- name: t\n  source: docs\n"
        f"  embedding_model: {written}\n",
        encoding="utf-8",
    )

    with pytest.raises(ConfigError, match=said) as caught:
        load_agent(file, environ={})

    assert caught.value.line == line
    assert str(caught.value.field).startswith("tools[0].embedding_model")
    assert "as a block" not in str(caught.value)


def test_a_missing_key_of_the_block_is_blamed_on_it() -> None:
    """The path of the message is the block's, not the agent's model."""
    (problem,) = find_model_problems(
        tool({"provider": "openai"}),
        agent_model=LLMProvider(provider="ollama", name="llama"),
        environ={},
    )

    assert problem.field == "embedding_model.api_key"


@pytest.mark.parametrize(
    ("settings", "owner"),
    [
        ({"provider": "openai", "context_size": 4096}, "ollama"),
        ({"provider": "openai", "deployment_name": "d"}, "azure_openai"),
        ({"provider": "ollama", "api_version": "v"}, "azure_openai"),
    ],
)
def test_a_setting_of_another_provider_is_refused(settings: dict[str, Any], owner: str) -> None:
    """Nothing is parsed and ignored: the message says whose setting it is."""
    (problem, *_) = find_model_problems(
        tool(), agent_model=LLMProvider.model_validate(settings), environ={"OPENAI_API_KEY": "k"}
    )

    assert f"or use provider '{owner}'" in problem.message
    assert problem.field == f"model.{next(name for name in settings if name != 'provider')}"
