"""A tool's missing keys and packages are found without any work."""

from __future__ import annotations

from holodeck.errors import ConfigError, MissingKeyError
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.checks import find_model_problems

KEYLESS: dict[str, str] = {}


def graph_tool(**graphrag: object) -> VectorstoreTool:
    """Return a tool with these settings of the graph engine."""
    return VectorstoreTool.model_validate(
        {"name": "g", "source": "docs", "engine": "graphrag", "graphrag": graphrag}
    )


def problems(tool: VectorstoreTool, provider: str, environ: dict[str, str]) -> list[ConfigError]:
    """Return what is wrong with the tool of an agent of this provider."""
    model = LLMProvider.model_validate({"provider": provider})
    return find_model_problems(tool, agent_model=model, environ=environ)


def test_a_missing_key_of_the_agents_model_is_one_problem() -> None:
    """Three roles that inherit one model lack one key, not three."""
    found = problems(graph_tool(), "openai", KEYLESS)

    assert [(type(error), error.field) for error in found] == [(MissingKeyError, "model.api_key")]


def test_a_key_in_the_environment_is_enough() -> None:
    """Nothing is wrong once the key is there."""
    assert problems(graph_tool(), "openai", {"OPENAI_API_KEY": "k"}) == []


def test_a_model_of_the_tools_own_is_blamed_itself() -> None:
    """The mend belongs where the model is named; models that need no key are not complained of."""
    found = problems(graph_tool(search_model={"provider": "openai"}), "embedded", KEYLESS)

    assert [error.field for error in found] == ["graphrag.search_model.api_key"]


def test_the_default_engine_needs_its_embedding_model_alone() -> None:
    """No language model is asked for where none is used."""
    found = problems(VectorstoreTool(name="v", source="docs"), "openai", KEYLESS)

    assert [error.field for error in found] == ["model.api_key"]
