"""Models of a test stand in for those of any settings."""

from __future__ import annotations

import pytest

from holodeck.models.llm import ModelSettings
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder


class ClosingEmbedder(WordEmbedder):
    """Remember how often it was closed."""

    closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_any_settings_give_the_same_model() -> None:
    """Neither key nor provider matters, and the settings' width asks nothing of the model."""
    embedder = WordEmbedder()
    resources = FixedResources(embedder=embedder, steps="steps")
    keyless = ModelSettings(provider="openai", name="none")

    resources.check(keyless, "model")

    assert resources.embedder(keyless, "model", 5) is embedder
    assert resources.embedder(ModelSettings(provider="ollama"), "model") is embedder
    assert resources.steps(keyless, "model") == "steps"
    assert resources.reach.environ == {}


def test_a_model_that_was_not_given_is_the_mistake_of_the_test() -> None:
    """A language model that nobody expected to be asked is never made up."""
    with pytest.raises(AssertionError, match=r"graphrag\.search_model: a language model"):
        FixedResources(embedder=WordEmbedder()).chat(ModelSettings(), "graphrag.search_model")


async def test_closing_reaches_the_models() -> None:
    """What an engine closes is closed, and may be used on."""
    embedder = ClosingEmbedder()
    resources = FixedResources(embedder=embedder)

    await resources.close()

    assert embedder.closed == 1
    assert resources.embedder(ModelSettings(), "model") is embedder
