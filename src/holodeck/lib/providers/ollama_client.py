"""The HTTP client of one Ollama model, and its failures as errors of ours.

Plain HTTP, not the ``ollama`` package: that one drops a reply's headers, and with them the
server's wish when to come back.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx

from holodeck.errors import ProviderError
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.client import CONNECT_SECONDS, ModelClient
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.seam import Refusal, Seam

__all__ = ["OLLAMA_URL", "Json", "OllamaClient"]

Json = dict[str, Any]  # Any: JSON

OLLAMA_URL = "http://localhost:11434"
_PORT = 11434
_BEHIND_THE_SERVER = re.compile(r"(/v1|/api(/chat|/embed|/generate)?)/*$")
_NOT_OLLAMA = "it is no answer of Ollama's: check the URL"


@dataclass(frozen=True, kw_only=True)
class _OllamaSeam(Seam):
    """Reads the errors of plain HTTP, and knows how Ollama is started and filled."""

    def translate(self, error: Exception, purpose: str) -> ProviderError:
        """Return the error of ours for ``error``, which a call for ``purpose`` raised."""
        if isinstance(error, httpx.HTTPStatusError):
            response = error.response
            said = _said_by(response)
            return self.refused(
                Refusal(status=response.status_code, said=said, headers=response.headers)
            )
        if isinstance(error, UnicodeEncodeError | httpx.LocalProtocolError):
            return self.unsendable()
        late = isinstance(error, httpx.TimeoutException | TimeoutError)
        if late and not isinstance(error, httpx.ConnectTimeout):
            return self.late(purpose)
        if isinstance(error, httpx.HTTPError):
            return self.unreachable(str(error) or type(error).__name__)
        return self.unusable(_NOT_OLLAMA, retryable=False)

    @property
    def start_advice(self) -> str:
        """What to do when nobody answers."""
        return (
            f"start it with 'ollama serve', or say where it runs by {self.access.where}.api_base "
            "or OLLAMA_HOST"
        )

    @property
    def missing_advice(self) -> str:
        """What to do when the server does not know the model."""
        return (
            f"run 'ollama pull {self.access.name}', or check {self.access.where}.name and "
            f"{self.access.where}.api_base"
        )

    @property
    def length_advice(self) -> str:
        """What to do when the model cannot take so long a request."""
        where = self.access.where
        if self.access.context_size is not None:
            return (
                f"raise or remove {where}.context_size, or use smaller chunks or a smaller context"
            )
        return "use smaller chunks or a smaller context, or a model that takes more"


def _said_by(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return response.text or response.reason_phrase
    return str(body.get("error", body)) if isinstance(body, Mapping) else str(body)


class OllamaClient(ModelClient[httpx.AsyncClient]):
    """Reaches one model of an Ollama server."""

    seam_class: ClassVar[type[Seam]] = _OllamaSeam
    errors: ClassVar[tuple[type[Exception], ...]] = (httpx.HTTPError, TimeoutError, ValueError)

    @staticmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return the server's address, whatever was copied behind it.

        Like Ollama's own tools: without a scheme the port is 11434, and the address that a server
        listens on (``0.0.0.0``) stands for this machine.
        """
        with_scheme = _with_scheme(access.api_base or OLLAMA_URL)
        return endpoint_of(
            access, "", version_path="", dropped=_BEHIND_THE_SERVER, given=with_scheme
        )

    def open_client(self) -> httpx.AsyncClient:
        """Return a new client; this machine's own server is reached past any proxy."""
        seconds = self.access.timeout
        return httpx.AsyncClient(
            base_url=self.endpoint.url,
            headers=self._headers(),
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            limits=httpx.Limits(max_connections=None),  # the number of calls is limited elsewhere
            trust_env=not self.endpoint.is_loopback,
        )

    @staticmethod
    async def close_client(client: httpx.AsyncClient) -> None:
        """Close the connections of a client."""
        await client.aclose()

    def _headers(self) -> dict[str, str]:
        if self.endpoint.authorization is not None:
            return {"Authorization": self.endpoint.authorization}
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def post(self, client: httpx.AsyncClient, path: str, body: Json) -> Json:
        """Return the JSON object that answers ``body``.

        Raises:
            ProviderError: The answer is no JSON object.
            httpx.HTTPError: For ``call`` to translate.
        """
        response = await client.post(path, content=_written(body), headers=_JSON)
        response.raise_for_status()
        return self._object(response.text)

    async def post_lines(
        self, client: httpx.AsyncClient, path: str, body: Json
    ) -> AsyncGenerator[Json, None]:
        """Yield the JSON objects that answer ``body``, one a line.

        Raises:
            ProviderError: A line is no JSON object, or says that the model failed.
            httpx.HTTPError: For ``iterate`` to translate.
        """
        async with client.stream("POST", path, content=_written(body), headers=_JSON) as response:
            if response.is_error:
                await response.aread()
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.strip():
                    piece = self._object(line)
                    if "error" in piece:
                        raise self.seam.refused(Refusal(status=500, said=str(piece["error"])))
                    yield piece

    def _object(self, text: str) -> Json:
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self.seam.unusable(_NOT_OLLAMA, retryable=False)
        return found


_JSON = {"Content-Type": "application/json"}


def _written(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def _with_scheme(given: str) -> str:
    """Return an address as a URL: ``127.0.0.1``, ``:11434``, ``box:8000/v1``, ``http://box``."""
    has_scheme = "://" in given
    parts = urlsplit(given if has_scheme else f"http://{given}")
    user, at, host = parts.netloc.rpartition("@")
    if not has_scheme and not re.search(r":\d+$", host):
        host = f"{host}:{_PORT}"
    host = re.sub(r"^(0\.0\.0\.0|\[::\])?(?=:|$)", "127.0.0.1", host)
    return parts._replace(netloc=f"{user}{at}{host}").geturl()
