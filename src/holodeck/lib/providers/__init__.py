"""The table of providers: one row and one file each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holodeck.errors import ConfigError
from holodeck.lib.imports import load_object

if TYPE_CHECKING:
    from holodeck.models.llm import ProviderName

__all__ = ["PROVIDER_TABLE", "ProviderRow", "provider_row"]


@dataclass(frozen=True, kw_only=True)
class ProviderRow:
    """What there is to know of a provider before its module is imported.

    Attributes:
        embedder: ``module:Class`` of its ``Embedder``; called with ``ModelAccess``.
        chat: ``module:Class`` of its ``ChatModel``; ``None`` where there is no language model.
        steps: ``module:Class`` that is both ``IndexSteps`` and ``AnswerSteps`` without a language
            model; ``None`` where the steps are prompts to ``chat``.
        key_variable: Environment variable of the API key; ``None`` where none is needed.
        base_variable: Environment variable of the server's URL.
        base_required: There is no server of the vendor's own to go to.
        version_variable: Environment variable of the API version.
        unused_settings: Settings of a model that its client has no use for.
        nature: What it is, where that is why settings are unused; follows "which".
        takes_bare_address: Whether a server's address may lack its scheme.
        name_check: ``module:function`` that raises for a language model that is not there; only
            where that can be told without a call.
        embedding_names: The only embedding models there are; empty: whatever the server has.
        embedding_widths: The only widths of their vectors; empty: whatever the server says.
        entity_types: The only types that its rules can tell; empty: any.
        chat_default: Model for answers when YAML names none.
        index_default: Model for indexing when YAML names none.
        embedding_default: Embedding model when YAML names none.
        extra: The extra that brings its packages.
    """

    embedder: str
    chat: str | None = None
    steps: str | None = None
    key_variable: str | None = None
    base_variable: str | None = None
    base_required: bool = False
    version_variable: str | None = None
    unused_settings: frozenset[str] = frozenset()
    nature: str = ""
    takes_bare_address: bool = False
    name_check: str | None = None
    embedding_names: tuple[str, ...] = ()
    embedding_widths: tuple[int, ...] = ()
    entity_types: tuple[str, ...] = ()
    chat_default: str
    index_default: str
    embedding_default: str
    extra: str | None = None

    def load(self, what: str) -> Any:  # Any: a class that the caller knows the contract of
        """Import and return the class that ``what`` (a field of this row) names."""
        return load_object(getattr(self, what))


_AZURE_ONLY = frozenset({"api_version", "deployment_name"})
_OLLAMA_ONLY = frozenset({"context_size"})
_OF_SERVERS = frozenset({"api_key", "api_base", "temperature", "max_tokens"})

PROVIDER_TABLE: dict[ProviderName, ProviderRow] = {
    "embedded": ProviderRow(
        embedder="holodeck.lib.providers.embedded:WordLlamaEmbedder",
        steps="holodeck.lib.providers.embedded:ExtractiveSteps",
        chat_default="extractive",
        index_default="extractive",
        embedding_default="wordllama",
        extra="embedded",
        unused_settings=_OF_SERVERS | _AZURE_ONLY | _OLLAMA_ONLY,
        nature="has no language model and reaches no server",
        name_check="holodeck.lib.providers.extractive.installed:require_pipeline",
        embedding_names=("wordllama",),
        embedding_widths=(64, 128, 256),
        entity_types=("organization", "person", "location", "event", "concept"),
    ),
    "openai": ProviderRow(
        embedder="holodeck.lib.providers.openai:OpenAIEmbedder",
        chat="holodeck.lib.providers.openai:OpenAIChat",
        key_variable="OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
        unused_settings=_AZURE_ONLY | _OLLAMA_ONLY,
        chat_default="gpt-4o",
        index_default="gpt-4o-mini",
        embedding_default="text-embedding-3-small",
    ),
    "azure_openai": ProviderRow(
        embedder="holodeck.lib.providers.azure_openai:AzureOpenAIEmbedder",
        chat="holodeck.lib.providers.azure_openai:AzureOpenAIChat",
        key_variable="AZURE_OPENAI_API_KEY",
        base_variable="AZURE_OPENAI_ENDPOINT",
        base_required=True,
        version_variable="AZURE_OPENAI_API_VERSION",
        unused_settings=_OLLAMA_ONLY,
        chat_default="gpt-4o",
        index_default="gpt-4o-mini",
        embedding_default="text-embedding-3-small",
    ),
    "ollama": ProviderRow(
        embedder="holodeck.lib.providers.ollama:OllamaEmbedder",
        chat="holodeck.lib.providers.ollama:OllamaChat",
        base_variable="OLLAMA_HOST",
        unused_settings=_AZURE_ONLY,
        takes_bare_address=True,
        chat_default="llama3.1",
        index_default="llama3.1",
        embedding_default="nomic-embed-text",
    ),
}
"""Provider → its row; a test finds a provider that YAML may name and that has none."""


def provider_row(
    provider: ProviderName, where: str, table: Mapping[ProviderName, ProviderRow] = PROVIDER_TABLE
) -> ProviderRow:
    """Return the row of ``provider``; ``where`` is the dotted path of the setting that names it.

    Raises:
        ConfigError: This version has no such provider.
    """
    if provider not in table:
        raise ConfigError(
            f"provider {provider!r} is not supported by this version yet; use "
            f"{' or '.join(repr(name) for name in table)}",
            field=f"{where}.provider",
        )
    return table[provider]
