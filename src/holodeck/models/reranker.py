"""Which model orders anew what a search found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from holodeck.models.llm import Connection
from holodeck.models.texts import Line

__all__ = ["RerankerConfig", "RerankerName"]

RerankerName = Literal["cohere", "vllm", "embedded"]


class RerankerConfig(Connection):
    """A reranking model and how to reach it."""

    provider: RerankerName = Field(
        default="embedded", description="Whose model; 'embedded' needs no key and no network"
    )
    name: Line | None = Field(default=None, description="Model name; default: the provider's")

    @model_validator(mode="after")
    def _settings_fit(self) -> RerankerConfig:
        if self.provider == "embedded":
            for setting in ("name", "api_key", "api_base"):
                if getattr(self, setting) is not None:
                    raise ValueError(
                        f"{setting} has no effect with provider: embedded, which asks nobody: "
                        "remove it"
                    )
        if self.provider == "vllm" and (self.name is None or self.api_base is None):
            raise ValueError(
                "provider: vllm needs name and api_base: the model that your server was started "
                "with, and its URL"
            )
        return self
