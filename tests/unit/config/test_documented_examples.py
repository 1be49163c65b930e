"""The examples that the format was announced with load as they were printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holodeck.config.loader import load_agent
from holodeck.models.tool import GraphRAGConfig, GraphRAGModelConfig, VectorstoreTool

# The examples show the tools only; an agent has a name and a model as well.
HEAD = "name: analyst\nmodel:\n  provider: openai\n  name: gpt-4o\n"

LOCAL = """
tools:
  - name: entity_search
    type: vectorstore
    engine: graphrag
    source: data/company_docs/
    description: "Search for specific entities and their relationships"

    graphrag:
      search_mode: local
      indexing_model:
        provider: openai
        name: gpt-4o-mini    # Cheaper model for indexing
        temperature: 0.0
      search_model:
        provider: openai
        name: gpt-4o         # Better model for search
      entity_types:
        - organization
        - person
        - product
        - technology
"""
GLOBAL = """
tools:
  - name: theme_analyzer
    type: vectorstore
    engine: graphrag
    source: data/research_papers/
    description: "Analyze themes and patterns across the dataset"

    graphrag:
      search_mode: global
      community_level: 1     # More detailed communities
      indexing_model:
        provider: azure_openai
        name: gpt-4o-mini
        api_base: ${AZURE_OPENAI_ENDPOINT}
        deployment_name: gpt-4o-mini
"""
MINIMAL = """
tools:
  - name: knowledge_graph
    type: vectorstore
    engine: graphrag
    source: data/documents/
    description: Search knowledge graph
"""
FULL = """
tools:
  - name: entity_search
    type: vectorstore
    engine: graphrag
    source: data/company_docs/
    description: Search for entities and relationships

    graphrag:
      search_mode: local
      community_level: 2

      indexing_model:
        provider: openai
        name: gpt-4o-mini
        temperature: 0.0

      search_model:
        provider: openai
        name: gpt-4o
        temperature: 0.0

      entity_types:
        - organization
        - person
        - product
        - technology

      chunk_size: 300
      chunk_overlap: 100
      max_gleanings: 1
      skip_claim_extraction: true
"""
ENTITY_TYPES = ("organization", "person", "product", "technology")

EXAMPLES = {
    "local search": (
        LOCAL,
        VectorstoreTool(
            name="entity_search",
            engine="graphrag",
            source="data/company_docs/",
            description="Search for specific entities and their relationships",
            graphrag=GraphRAGConfig(
                search_mode="local",
                indexing_model=GraphRAGModelConfig(
                    provider="openai", name="gpt-4o-mini", temperature=0.0
                ),
                search_model=GraphRAGModelConfig(provider="openai", name="gpt-4o"),
                entity_types=ENTITY_TYPES,
            ),
        ),
    ),
    "global search": (
        GLOBAL,
        VectorstoreTool(
            name="theme_analyzer",
            engine="graphrag",
            source="data/research_papers/",
            description="Analyze themes and patterns across the dataset",
            graphrag=GraphRAGConfig(
                search_mode="global",
                community_level=1,
                indexing_model=GraphRAGModelConfig(
                    provider="azure_openai",
                    name="gpt-4o-mini",
                    api_base="https://azure.example",
                    deployment_name="gpt-4o-mini",
                ),
            ),
        ),
    ),
    "the minimum": (
        MINIMAL,
        VectorstoreTool(
            name="knowledge_graph",
            engine="graphrag",
            source="data/documents/",
            description="Search knowledge graph",
            graphrag=GraphRAGConfig(),
        ),
    ),
    "everything": (
        FULL,
        VectorstoreTool(
            name="entity_search",
            engine="graphrag",
            source="data/company_docs/",
            description="Search for entities and relationships",
            graphrag=GraphRAGConfig(
                search_mode="local",
                community_level=2,
                indexing_model=GraphRAGModelConfig(
                    provider="openai", name="gpt-4o-mini", temperature=0.0
                ),
                search_model=GraphRAGModelConfig(provider="openai", name="gpt-4o", temperature=0.0),
                entity_types=ENTITY_TYPES,
                chunk_size=300,
                chunk_overlap=100,
                max_gleanings=1,
                skip_claim_extraction=True,
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_documented_example_loads_unchanged(
    name: str, write_agent: Callable[[str], Path]
) -> None:
    """Every setting of an example arrives with the value that it shows."""
    text, expected = EXAMPLES[name]

    agent = load_agent(
        write_agent(HEAD + text), environ={"AZURE_OPENAI_ENDPOINT": "https://azure.example"}
    )

    assert agent.tool_config().model_dump() == expected.model_dump()
