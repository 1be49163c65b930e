"""A setting that the chosen provider cannot follow is refused where it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holodeck.config.loader import load_agent
from holodeck.errors import ConfigError
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.lib.providers.embedded import ExtractiveSteps, WordLlamaEmbedder
from holodeck.lib.providers.static_vectors import WIDTHS
from holodeck.lib.resolution import find_setting_problems, resolve_tool
from holodeck.models.llm import PROVIDERS, EmbeddingModelConfig, LLMProvider, ModelSettings
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

VALUES: dict[str, object] = {
    "temperature": 0.0,  # the default: also refused where it is written
    "max_tokens": 100,
    "context_size": 4096,
    "api_key": "k",
    "api_base": "http://box:1",
    "api_version": "2024-10-21",
    "deployment_name": "d",
}
USED: dict[str, set[str]] = {
    "openai": {"temperature", "max_tokens", "api_key", "api_base"},
    "azure_openai": {
        "temperature",
        "max_tokens",
        "api_key",
        "api_base",
        "api_version",
        "deployment_name",
    },
    "ollama": {"temperature", "max_tokens", "api_key", "api_base", "context_size"},
    "embedded": set(),
}


def graph_tool(**settings: Any) -> VectorstoreTool:
    """Return a graph tool with these settings of the tool (Any: fields of it)."""
    return VectorstoreTool.model_validate(
        {"name": "t", "source": "docs", "engine": "graphrag", **settings}
    )


def problems(tool: VectorstoreTool, **model: Any) -> list[tuple[str | None, str]]:
    """Return field and message of what is wrong with the tool of an agent of this model."""
    found = find_setting_problems(tool, LLMProvider.model_validate(model))
    return [(problem.field, problem.message) for problem in found]


def test_the_tables_here_know_every_setting_and_provider() -> None:
    """A new setting of a model needs a value and a decision for each provider."""
    assert VALUES.keys() == ModelSettings.model_fields.keys() - {"provider", "name"}
    assert USED.keys() == set(PROVIDERS)


@pytest.mark.parametrize("setting", VALUES)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_takes_what_its_provider_uses_and_nothing_else(provider: str, setting: str) -> None:
    """The message names the setting, the provider and who would use it."""
    found = problems(graph_tool(), provider=provider, **{setting: VALUES[setting]})

    if setting in USED[provider]:
        assert found == []
        return
    ((field, message),) = found
    assert field == f"model.{setting}"
    assert message.startswith(f"{setting} has no effect with provider '{provider}'")
    assert "remove it" in message
    for user in (name for name, used in USED.items() if setting in used):
        assert f"'{user}'" in message


@pytest.mark.parametrize(
    "setting", sorted(VALUES.keys() & EmbeddingModelConfig.model_fields.keys())
)
def test_a_block_of_another_provider_is_judged_by_its_own(setting: str) -> None:
    """Each of the three blocks is refused what its provider has no use for."""
    block = {"provider": "embedded", setting: VALUES[setting]}
    tool = graph_tool(
        graphrag={"indexing_model": block, "search_model": block, "embedding_model": block}
    )

    fields = {field for field, _ in problems(tool, provider="openai")}

    assert fields == {
        f"graphrag.{role}.{setting}"
        for role in ("indexing_model", "search_model", "embedding_model")
    }


def test_what_is_inherited_or_empty_is_no_mistake() -> None:
    """Only what was written counts: not a default, not the agent's, not ``null`` for nothing."""
    block = {"provider": "embedded", "api_key": None, "max_tokens": None}
    tool = graph_tool(graphrag={"indexing_model": block, "search_model": block})

    assert problems(tool, provider="openai", temperature=0.7, api_key="k") == []
    assert problems(graph_tool(), provider="embedded") == []
    assert problems(graph_tool(graphrag={"skip_claim_extraction": True}), provider="embedded") == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_gleanings": 0}, "max_gleanings has no effect with provider 'embedded'"),
        ({"max_failed_share": 0.5}, "max_failed_share has no effect with provider 'embedded'"),
        ({"response_type": "a list"}, "response_type has no effect with provider 'embedded'"),
        ({"skip_claim_extraction": False}, "skip_claim_extraction must be true"),
        ({"dynamic_community_selection": True}, "no language model to rate reports"),
        ({"settings_file": True}, "cannot use provider 'embedded'"),
        ({"entity_types": ["person", "ship"]}, "entity_types holds 'ship'"),
    ],
)
def test_rules_are_not_asked_for_what_only_a_model_can(settings: dict[str, Any], said: str) -> None:
    """What rules cannot do is refused, and the same is fine with a model that can."""
    tool = graph_tool(graphrag=settings)

    ((field, message),) = problems(tool, provider="embedded")

    assert field is not None
    assert field.startswith(f"graphrag.{next(iter(settings))}")
    assert said in message
    assert "remove it" in message
    assert problems(tool, provider="openai") == []


def test_types_that_the_rules_tell_are_fine_in_any_case() -> None:
    """The message for another names them all, and its item."""
    known = PROVIDER_TABLE["embedded"].entity_types

    assert (
        problems(graph_tool(graphrag={"entity_types": ["Person", *known]}), provider="embedded")
        == []
    )
    ((field, message),) = problems(
        graph_tool(graphrag={"entity_types": ["person", "ship"]}), provider="embedded"
    )
    assert field == "graphrag.entity_types[1]"
    assert ", ".join(known) in message


def test_an_embedding_model_or_width_that_the_provider_has_not_is_refused() -> None:
    """It is found without loading the vectors."""
    assert (
        problems(graph_tool(embedding_model="ada"), provider="embedded")[0][0] == "embedding_model"
    )
    block = {"embedding_model": {"name": "ada"}}
    assert problems(graph_tool(graphrag=block), provider="embedded")[0] == (
        "graphrag.embedding_model.name",
        "provider 'embedded' has no embedding model 'ada': write 'wordllama' or leave the name out",
    )
    plain = VectorstoreTool(name="t", source="docs", embedding_dimensions=100)
    ((field, message),) = problems(plain, provider="embedded")
    assert field == "embedding_dimensions"
    assert "must be one of 64, 128, 256" in message
    assert problems(plain, provider="openai") == []


@pytest.mark.parametrize("name", ["gpt-4o", "json", ".", "x" * 5000, "no_such_pipeline"])
def test_a_language_model_that_rules_cannot_be_is_refused(name: str) -> None:
    """Neither a server's model, a package or folder of something else, nor what is not there."""
    pytest.importorskip("spacy", reason="spaCy is not installed")

    ((field, message),) = problems(graph_tool(), provider="embedded", name=name)

    assert field == "model.name"
    assert "use name: extractive" in message


@pytest.mark.parametrize(
    ("provider", "url", "fits"),
    [
        ("openai", "box:8000/v1", False),
        ("azure_openai", "name.openai.azure.com", False),
        ("ollama", "box:11434", True),
        ("ollama", ":11434", True),
        ("openai", "https://box", True),
    ],
)
def test_an_address_needs_its_scheme_but_for_ollama(provider: str, url: str, *, fits: bool) -> None:
    """Ollama's own tools take one without."""
    found = problems(graph_tool(), provider=provider, api_base=url)

    assert [field for field, _ in found] == ([] if fits else ["model.api_base"])


def test_the_facts_in_the_table_are_those_of_the_code() -> None:
    """The row can be read without importing the vectors; it must not differ from them."""
    row = PROVIDER_TABLE["embedded"]

    assert row.embedding_widths == WIDTHS
    assert row.embedding_names == (row.embedding_default,)
    assert row.load("embedder") is WordLlamaEmbedder
    assert row.load("steps") is ExtractiveSteps


def test_python_alone_says_the_same_without_a_line(tmp_path: Path) -> None:
    """A tool made in code is refused in the words of a file, which has line and field besides."""
    (tmp_path / "docs").mkdir()
    model = LLMProvider(provider="embedded", temperature=0.5)
    config = VectorstoreTool(name="t", source="docs")
    file = tmp_path / "agent.yaml"
    file.write_text("name: a\nmodel:\n  provider: embedded\n  temperature: 0.5\n", encoding="utf-8")

    with pytest.raises(ConfigError) as in_file:
        load_agent(file, environ={})
    with pytest.raises(ConfigError) as in_code:
        VectorStoreTool(config, str(tmp_path), agent_model=model)
    with pytest.raises(ConfigError) as resolved:
        resolve_tool(config, model)

    assert in_file.value.message == in_code.value.message == resolved.value.message
    assert (in_file.value.line, in_file.value.field) == (4, "model.temperature")
    assert (in_code.value.line, in_code.value.field) == (None, "model.temperature")
