"""Azure OpenAI: the wire format of OpenAI at the addresses of one's own deployments.

The plain client with Azure's paths is used, not the SDK's Azure client: that one reads further
variables of its own (a directory token would go before the key).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

from openai import AsyncOpenAI, Omit

from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.openai import OpenAIChat, OpenAIEmbedder
from holodeck.lib.providers.openai_client import OpenAIClient
from holodeck.lib.providers.openai_errors import ErrorSeam
from holodeck.lib.providers.seam import Seam

__all__ = ["DEFAULT_API_VERSION", "AzureOpenAIChat", "AzureOpenAIEmbedder"]

DEFAULT_API_VERSION = "2024-10-21"
"""The last dated version that Microsoft declared generally available for these calls."""

# What people copy from the portal behind the resource's address.
_BEHIND_THE_RESOURCE = re.compile(r"(/openai(/deployments/[^/]+|/v1)?|/v1)/*$")


@dataclass(frozen=True, kw_only=True)
class _AzureSeam(ErrorSeam):
    """Names deployment and version where the server does not know them."""

    @property
    def missing_advice(self) -> str:
        """What to do when the server does not know the deployment."""
        where, deployment = self.access.where, _deployment(self.access)
        return (
            f"the deployment {deployment!r} with api-version "
            f"{self.access.api_version or DEFAULT_API_VERSION!r} was asked for: check "
            f"{where}.deployment_name, {where}.api_version (or AZURE_OPENAI_API_VERSION) and "
            f"{where}.endpoint (or AZURE_OPENAI_ENDPOINT)"
        )


def _deployment(access: ModelAccess) -> str:
    return access.deployment_name or access.name


class _AzureClient(OpenAIClient):
    """Reaches one deployment of a resource."""

    seam_class: ClassVar[type[Seam]] = _AzureSeam

    @staticmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return the resource's address, whatever was copied behind it."""
        return endpoint_of(access, "", version_path="", dropped=_BEHIND_THE_RESOURCE)

    def open_client(self) -> AsyncOpenAI:
        """Return a new client; retries are ours, so it makes none."""
        deployment = quote(self.model_on_wire, safe="")
        return AsyncOpenAI(
            api_key="not sent",
            base_url=f"{self.endpoint.url}/openai/deployments/{deployment}",
            default_query={"api-version": self.access.api_version or DEFAULT_API_VERSION},
            max_retries=0,
            timeout=self.timeout,
            http_client=self.open_http(),
        )

    @property
    def model_on_wire(self) -> str:
        """The deployment; by default it bears the model's name."""
        return _deployment(self.access)

    @property
    def request_headers(self) -> dict[str, str]:
        """Headers of each request: the key is Azure's own header, never a bearer's."""
        authorization = self.endpoint.authorization or Omit()
        return {"api-key": self.key or "", "Authorization": authorization}  # type: ignore[dict-item]  # Omit: the client's word for "send none"


class AzureOpenAIChat(OpenAIChat):
    """A chat deployment."""

    client_class: ClassVar[type[OpenAIClient]] = _AzureClient


class AzureOpenAIEmbedder(OpenAIEmbedder):
    """An embedding deployment."""

    client_class: ClassVar[type[OpenAIClient]] = _AzureClient
