"""The OpenAI client of one model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from httpx import AsyncClient
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit, Timeout

from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.client import CONNECT_SECONDS, ModelClient
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.openai_errors import CLIENT_ERRORS, ErrorSeam
from holodeck.lib.providers.openai_wire import body_of
from holodeck.lib.providers.seam import Seam
from holodeck.lib.providers.transport import open_http

__all__ = ["OpenAIClient"]

OPENAI_URL = "https://api.openai.com/v1"


class OpenAIClient(ModelClient[AsyncOpenAI]):
    """Reaches OpenAI, or any server that speaks its wire format.

    A subclass for another way in (Azure) overrides ``find_endpoint``, ``open_client``,
    ``request_headers`` and ``model_on_wire``.
    """

    seam_class: ClassVar[type[Seam]] = ErrorSeam
    errors: ClassVar[tuple[type[Exception], ...]] = CLIENT_ERRORS

    @staticmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return where calls go."""
        return endpoint_of(access, OPENAI_URL)

    def open_client(self) -> AsyncOpenAI:
        """Return a new client; retries are ours, so it makes none."""
        return AsyncOpenAI(
            api_key=self.key or "not sent",
            base_url=self.endpoint.url,
            max_retries=0,
            timeout=self.timeout,
            http_client=self.open_http(),
        )

    @staticmethod
    async def close_client(client: AsyncOpenAI) -> None:
        """Close the connections of a client."""
        await client.close()

    @property
    def model_on_wire(self) -> str:
        """What the server calls the model."""
        return self.access.name

    @property
    def request_headers(self) -> dict[str, str]:
        """Headers of each request: Basic authorization in place of the key's, or none at all."""
        if self.endpoint.authorization is not None:
            return {"Authorization": self.endpoint.authorization}
        if not self.key:
            return {"Authorization": Omit()}  # type: ignore[dict-item]  # the client's word for "send none"
        return {}

    def open_http(self) -> AsyncClient:
        """Return what carries the requests."""
        return open_http(DefaultAsyncHttpxClient, is_loopback=self.endpoint.is_loopback)

    async def post(self, purpose: str, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Send JSON and return the JSON object that came back; ``None``: it was none.

        Past the typed methods of the client, which take longer than all else of a call: they walk
        through what is sent, and build objects of what comes back.

        Raises:
            ProviderError: What the seam makes of the client's error.
        """
        headers = self.request_headers

        async def send(client: AsyncOpenAI) -> object:
            return await client.post(path, cast_to=object, body=body, options={"headers": headers})

        return body_of(await self.call(purpose, send))

    @property
    def timeout(self) -> Timeout:
        """Seconds for each wait for bytes."""
        seconds = self.access.timeout
        return Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
