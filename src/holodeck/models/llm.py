"""Which model to use and how to reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AliasChoices, Discriminator, Field, SecretStr, Tag, field_validator

from holodeck.models.base import StrictModel
from holodeck.models.texts import Line, ServerUrl, check_key

__all__ = [
    "PROVIDERS",
    "UNION_TAGS",
    "Connection",
    "EmbeddingModel",
    "EmbeddingModelConfig",
    "LLMProvider",
    "ModelSettings",
    "ProviderName",
]

ProviderName = Literal["openai", "azure_openai", "ollama", "embedded"]
MOST_TOKENS = 10_000_000
"""More than any model takes or writes: a larger number is a slip."""

PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)


class Connection(StrictModel):
    """How to reach a model's server."""

    api_key: SecretStr | None = Field(
        default=None, description="API key; default: the provider's environment variable"
    )
    api_base: ServerUrl | None = Field(
        default=None,
        repr=False,  # may hold user:password@
        validation_alias=AliasChoices("api_base", "endpoint"),
        description="URL of the server, for any compatible one ('endpoint' is an alias)",
    )

    @field_validator("api_key")
    @classmethod
    def _key_is_a_key(cls, key: SecretStr | None) -> SecretStr | None:
        problem = None if key is None else check_key(key.get_secret_value())
        if problem is not None:
            raise ValueError(
                f"api_key {problem}: give the key, or remove the setting to use the provider's "
                "environment variable"
            )
        return key


class _Connection(Connection):
    """How to reach a model that may be a deployment of Azure's."""

    api_version: Line | None = Field(
        default=None, description="Azure API version. Only for provider: azure_openai"
    )
    deployment_name: Line | None = Field(
        default=None,
        description=(
            "Azure deployment; default: the model's name. Only for provider: azure_openai"
        ),
    )


class ModelSettings(_Connection):
    """A model and how to reach it; what is left out is filled in by ``lib.resources``."""

    provider: ProviderName = Field(default="openai", description="LLM provider")
    name: Line | None = Field(default=None, description="Model name; default: the provider's")
    temperature: float | None = Field(
        default=0.0,
        ge=0.0,
        le=2.0,
        description="Sampling temperature; null sends none, which reasoning models need",
    )
    max_tokens: int | None = Field(
        default=None, ge=1, le=MOST_TOKENS, description="Greatest length of a reply in tokens"
    )
    context_size: int | None = Field(
        default=None,
        ge=512,
        le=MOST_TOKENS,
        description=(
            "Tokens of context that Ollama gives the model; default: as many as the longest call "
            "needs. Only for provider: ollama"
        ),
    )


class EmbeddingModelConfig(_Connection):
    """An embedding model with a provider or server of its own."""

    provider: ProviderName | None = Field(
        default=None, description="Whose model; default: the agent's provider"
    )
    name: Line | None = Field(default=None, description="Embedding model; default: the provider's")


_AS_TEXT, _AS_BLOCK = "as text", "as a block"
UNION_TAGS = (_AS_TEXT, _AS_BLOCK)
"""What pydantic puts into the path of an error to say which form was tried; no key is so named."""


def _form(value: Any) -> str:  # Any: what YAML holds
    return _AS_BLOCK if isinstance(value, Mapping | EmbeddingModelConfig) else _AS_TEXT


EmbeddingModel = Annotated[
    Annotated[Line, Tag(_AS_TEXT)] | Annotated[EmbeddingModelConfig, Tag(_AS_BLOCK)],
    Discriminator(_form),
]
"""The name of an embedding model, or a block that says how to reach it."""


class LLMProvider(ModelSettings):
    """The agent's own model."""
