"""Which model to use and how to reach it."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import AliasChoices, Field, SecretStr

from holodeck.models.base import StrictModel

__all__ = ["PROVIDERS", "LLMProvider", "ModelSettings", "ProviderName"]

ProviderName = Literal["openai", "azure_openai", "ollama", "embedded"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)


class ModelSettings(StrictModel):
    """A model and how to reach it; what is left out is filled in by ``lib.resources``."""

    provider: ProviderName = Field(default="openai", description="LLM provider")
    name: str | None = Field(
        default=None, min_length=1, description="Model name; default: the provider's"
    )
    temperature: float | None = Field(
        default=0.0,
        ge=0.0,
        le=2.0,
        description="Sampling temperature; null sends none, which reasoning models need",
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Greatest length of a reply in tokens"
    )
    api_key: SecretStr | None = Field(
        default=None, description="API key; default: the provider's environment variable"
    )
    api_base: str | None = Field(
        default=None,
        validation_alias=AliasChoices("api_base", "endpoint"),
        description="URL of the server, for any compatible one ('endpoint' is an alias)",
    )
    api_version: str | None = Field(default=None, description="Azure API version")
    deployment_name: str | None = Field(
        default=None, description="Azure deployment; default: the model's name"
    )


class LLMProvider(ModelSettings):
    """The agent's own model."""
