"""Every provider with a server keeps the same contract."""

from __future__ import annotations

from typing import Any

from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.testing import ModelServer
from holodeck.testing.provider_contract import ProviderContract


class TestOpenAI(ProviderContract):
    """OpenAI, and whoever speaks its wire format."""

    provider = "openai"

    @classmethod
    def api_base(cls, server: ModelServer) -> str:
        return server.url

    @classmethod
    def asks_for_json(cls, body: dict[str, Any]) -> bool:
        return body.get("response_format") == {"type": "json_object"}


class TestAzureOpenAI(ProviderContract):
    """Deployments of a resource."""

    provider = "azure_openai"

    @classmethod
    def asks_for_json(cls, body: dict[str, Any]) -> bool:
        return body.get("response_format") == {"type": "json_object"}


class TestOllama(ProviderContract):
    """Ollama's own API."""

    provider = "ollama"
    needs_key = False
    has_quota = False

    @classmethod
    def asks_for_json(cls, body: dict[str, Any]) -> bool:
        return body.get("format") == "json"


def test_every_provider_with_a_server_is_under_contract() -> None:
    """A new row gets a class above."""
    under_contract = {kept.provider for kept in (TestOpenAI, TestAzureOpenAI, TestOllama)}

    assert under_contract == {name for name, row in PROVIDER_TABLE.items() if row.chat is not None}
