"""What shapes an index is in its settings, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from holodeck.lib.indexes.settings import changed_settings
from holodeck.lib.resources import resolve_tool
from holodeck.lib.vectorstore.settings import embedding_key, shaping_settings
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool


def settings(**changes: Any) -> dict[str, str]:
    tool = VectorstoreTool(name="atlas", source="docs", **changes)
    return shaping_settings(resolve_tool(tool, LLMProvider(provider="ollama")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chunk_size": 400}, "chunk_size: 512 → 400"),
        ({"chunk_overlap": 0}, "chunk_overlap: 50 → 0"),
        (
            {"embedding_model": "other"},
            'embedding_model: "ollama/nomic-embed-text" → "ollama/other"',
        ),
        ({"embedding_dimensions": 64}, "embedding_dimensions: null → 64"),
        ({"encoding_fallback": None}, 'encoding_fallback: "cp1252" → null'),
    ],
)
def test_a_shaping_setting_is_told_by_its_name(change: dict[str, Any], said: str) -> None:
    """Each setting that changes what is stored builds the index anew, and is named."""
    assert changed_settings(settings(), settings(**change)) == [said]


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "keyword"},
        {"top_k": 9},
        {"min_similarity_score": 0.5},
        {"source": "other"},
        {"description": "Maps"},
    ],
)
def test_a_setting_of_the_search_is_not_among_them(change: dict[str, Any]) -> None:
    """Another way to search, or to speak of the tool, costs no build."""
    assert settings() == shaping_settings(
        resolve_tool(
            VectorstoreTool(**{"name": "atlas", "source": "docs", **change}),
            LLMProvider(provider="ollama"),
        )
    )


def test_vectors_are_kept_when_only_other_settings_change() -> None:
    """Only the model and the width decide whether two vectors may stand side by side."""
    assert embedding_key(settings()) == embedding_key(settings(chunk_size=400))
    assert embedding_key(settings()) != embedding_key(settings(embedding_model="other"))
    assert embedding_key(settings()) != embedding_key(settings(embedding_dimensions=64))
