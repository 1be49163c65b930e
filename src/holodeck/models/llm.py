"""Which model to use and how to reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import AliasChoices, Discriminator, Field, SecretStr, Tag, field_validator

from holodeck.models.base import StrictModel

__all__ = [
    "PROVIDERS",
    "UNION_TAGS",
    "EmbeddingModel",
    "EmbeddingModelConfig",
    "LLMProvider",
    "ModelSettings",
    "ProviderName",
    "is_usable_key",
]

ProviderName = Literal["openai", "azure_openai", "ollama", "embedded"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)


def is_usable_key(key: str | None) -> bool:
    """Tell whether ``key`` can be one: not blank, not ``${NAME}`` that nobody replaced."""
    return key is not None and bool(key.strip()) and "${" not in key


class _Connection(StrictModel):
    """How to reach a model."""

    api_key: SecretStr | None = Field(
        default=None, description="API key; default: the provider's environment variable"
    )
    api_base: str | None = Field(
        default=None,
        min_length=1,
        validation_alias=AliasChoices("api_base", "endpoint"),
        description="URL of the server, for any compatible one ('endpoint' is an alias)",
    )
    api_version: str | None = Field(default=None, min_length=1, description="Azure API version")
    deployment_name: str | None = Field(
        default=None, min_length=1, description="Azure deployment; default: the model's name"
    )

    @field_validator("api_key")
    @classmethod
    def _key_is_a_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not is_usable_key(key.get_secret_value()):
            raise ValueError(
                "api_key is empty or a variable that was not replaced: give the key, or remove the "
                "setting to use the provider's environment variable"
            )
        return key


class ModelSettings(_Connection):
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
    context_size: int | None = Field(
        default=None,
        ge=512,
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
    name: str | None = Field(
        default=None, min_length=1, description="Embedding model; default: the provider's"
    )


_AS_TEXT, _AS_BLOCK = "as text", "as a block"
UNION_TAGS = (_AS_TEXT, _AS_BLOCK)
"""What pydantic puts into the path of an error to say which form was tried; no key is so named."""


def _form(value: Any) -> str:  # Any: what YAML holds
    return _AS_BLOCK if isinstance(value, Mapping | EmbeddingModelConfig) else _AS_TEXT


EmbeddingModel = Annotated[
    Annotated[Annotated[str, Field(min_length=1)], Tag(_AS_TEXT)]
    | Annotated[EmbeddingModelConfig, Tag(_AS_BLOCK)],
    Discriminator(_form),
]
"""The name of an embedding model, or a block that says how to reach it."""


class LLMProvider(ModelSettings):
    """The agent's own model."""
