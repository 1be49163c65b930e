"""The JSON Schema that editors check ``agent.yaml`` with."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from holodeck.config.schema import agent_schema
from holodeck.models.agent import AgentConfig
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import PROVIDERS, EmbeddingModelConfig, LLMProvider
from holodeck.models.reranker import RerankerConfig
from holodeck.models.tool import GraphRAGConfig, GraphRAGModelConfig, VectorstoreTool

GOOD = {
    "the smallest": "name: a\nmodel: {}\n",
    "every kind of setting": """
name: analyst
description: Reads.
model:
  provider: openai
  name: gpt-4o
  temperature: null
  api_key: ${OPENAI_API_KEY}
  endpoint: https://host/v1
instructions: {inline: Cite.}
tools:
  - name: knowledge
    type: vectorstore
    engine: graphrag
    source: docs/
    description: Everything
    graphrag:
      search_mode: global
      community_level: 1
      entity_types: [person, ship]
      indexing_model: {provider: ollama, name: llama, api_base: 'http://localhost:11434'}
  - {name: plain, source: docs/, top_k: 3, min_similarity_score: 0.2, encoding_fallback: null}
execution:
  llm_timeout: 5
  index_timeout: null
  cache: false
  max_cost: 2.5
  prices:
    gpt-4o-eu: {input: 2.5, output: "${PRICE}", max_output: 4096}
    azure_openai/embed-eu: {input: 0.02}
""",
    "variables everywhere": """
name: ${NAME}
model:
  provider: ${PROVIDER}
  temperature: ${T:-0.2}
  max_tokens: ${M}
tools:
  - name: ${TOOL}
    source: ${DOCS}
    engine: ${ENGINE}
    strict: ${STRICT}
    graphrag: {community_level: "${LEVEL}", search_mode: "${MODE}"}
execution: {concurrency: "${C}", cache: "${CACHE}"}
""",
}
BAD = {
    "an unknown key": "name: a\nmodel: {}\nextra: 1\n",
    "no model": "name: a\n",
    "a price without its prompts": "name: a\nmodel: {}\nexecution: {prices: {m: {output: 1}}}\n",
    "a level too deep": "name: a\nmodel: {}\ntools: [{name: t, source: s, engine: graphrag, "
    "graphrag: {community_level: 6}}]\n",
    "an unknown engine": "name: a\nmodel: {}\ntools: [{name: t, source: s, engine: neo4j}]\n",
    "a text for a number": "name: a\nmodel: {temperature: warm}\n",
    "a setting of the other engine": "name: a\nmodel: {}\n"
    "tools: [{name: t, source: s, engine: graphrag, top_k: 3}]\n",
    "a block of the other engine": "name: a\nmodel: {}\n"
    "tools: [{name: t, source: s, graphrag: {chunk_size: 400}}]\n",
    "a path for a name": "name: a\nmodel: {}\ntools: [{name: ../x, source: s}]\n",
}


def errors(text: str) -> list[str]:
    """Return what an editor would mark."""
    validator = Draft202012Validator(agent_schema())
    return [error.message for error in validator.iter_errors(yaml.safe_load(text))]


def test_the_schema_is_a_schema() -> None:
    """Editors find its dialect and a title."""
    schema = agent_schema()

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "HoloDeck agent"


@pytest.mark.parametrize("kind", GOOD)
def test_what_loads_passes(kind: str) -> None:
    """No red line under a file that is right, variables included."""
    assert errors(GOOD[kind]) == []


@pytest.mark.parametrize("kind", BAD)
def test_what_does_not_load_fails(kind: str) -> None:
    """A mistake is seen while one types."""
    assert errors(BAD[kind]) != []


def test_every_setting_is_described() -> None:
    """An editor can say what each setting is for, by either of its names."""
    schema = agent_schema()
    models: list[dict[str, Any]] = [schema, *schema["$defs"].values()]

    nameless = [
        name
        for model in models
        for name, setting in model["properties"].items()
        if not setting.get("description")
    ]

    assert nameless == []
    assert [model for model in models if "``" in model.get("description", "``")] == []
    assert {"api_base", "endpoint"} <= schema["$defs"]["LLMProvider"]["properties"].keys()
    assert schema["properties"].keys() == AgentConfig.model_fields.keys()


def names_offered(schema: dict[str, Any], *path: str) -> set[str]:
    """Return what an editor offers as keys at a place, found as editors do: by following the file.

    Args:
        schema: The whole.
        path: Keys from the top; ``-`` stands for an item of a list.
    """
    places = [schema]
    for part in path:
        below = [
            place["items"] if part == "-" else place["properties"][part]
            for place in _alternatives(schema, places)
            if ("items" in place if part == "-" else part in place.get("properties", {}))
        ]
        places = below
    return {name for place in _alternatives(schema, places) for name in place.get("properties", {})}


def _alternatives(schema: dict[str, Any], places: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for place in places:
        if "$ref" in place:
            place = schema["$defs"][place["$ref"].rpartition("/")[2]]
        choices = [choice for kind in ("anyOf", "oneOf") for choice in place.get(kind, ())]
        found += [place, *(_alternatives(schema, choices) if choices else [])]
    return found


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ((), AgentConfig),
        (("model",), LLMProvider),
        (("execution",), ExecutionConfig),
        (("tools", "-"), VectorstoreTool),
        (("tools", "-", "graphrag"), GraphRAGConfig),
        (("tools", "-", "graphrag", "indexing_model"), GraphRAGModelConfig),
        (("tools", "-", "graphrag", "embedding_model"), EmbeddingModelConfig),
        (("tools", "-", "reranker"), RerankerConfig),
    ],
)
def test_an_editor_is_offered_every_setting_that_works(
    path: tuple[str, ...], model: type[BaseModel]
) -> None:
    """Completion follows the references from the top to each block."""
    assert names_offered(agent_schema(), *path) >= model.model_fields.keys()


def test_an_editor_is_offered_every_word_of_a_closed_set() -> None:
    """Providers, engines and modes can be chosen, not only refused."""
    text = str(agent_schema())

    for words in (PROVIDERS, ("default", "graphrag"), ("local", "global"), ("hybrid", "vector")):
        assert str(list(words))[1:-1] in text
