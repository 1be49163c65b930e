"""Which model orders anew what a search found."""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.texts import Line, ServerUrl, check_key

__all__ = ["RerankerConfig", "RerankerName"]

RerankerName = Literal["cohere", "vllm", "embedded"]


class RerankerConfig(StrictModel):
    """A reranking model and how to reach it."""

    provider: RerankerName = Field(
        default="embedded", description="Whose model; 'embedded' needs no key and no network"
    )
    name: Line | None = Field(default=None, description="Model name; default: the provider's")
    api_key: SecretStr | None = Field(
        default=None, description="API key; default: the environment variable COHERE_API_KEY"
    )
    api_base: ServerUrl | None = Field(
        default=None,
        validation_alias=AliasChoices("api_base", "endpoint"),
        description="URL of the server ('endpoint' is an alias); needed for provider: vllm",
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
