"""The HTTP client of one Ollama model.

Plain HTTP, not the ``ollama`` package: that one drops a reply's headers, and with them the
server's wish when to come back.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

import httpx

from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.http_client import (
    JSON_HEADERS,
    HttpClient,
    HttpSeam,
    Json,
    written,
)
from holodeck.lib.providers.seam import Refusal, Seam

__all__ = ["OLLAMA_URL", "OllamaClient"]

OLLAMA_URL = "http://localhost:11434"
_PORT = 11434
_BEHIND_THE_SERVER = re.compile(r"(/v1|/api(/chat|/embed|/generate)?)/*$")


@dataclass(frozen=True, kw_only=True)
class _OllamaSeam(HttpSeam):
    """Knows how Ollama is started and filled."""

    no_answer: ClassVar[str] = "it is no answer of Ollama's: check the URL"

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


class OllamaClient(HttpClient):
    """Reaches one model of an Ollama server."""

    seam_class: ClassVar[type[Seam]] = _OllamaSeam

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

    async def post_lines(
        self, client: httpx.AsyncClient, path: str, body: Json
    ) -> AsyncGenerator[Json, None]:
        """Yield the JSON objects that answer ``body``, one a line.

        Raises:
            ProviderError: A line is no JSON object, or says that the model failed.
            httpx.HTTPError: For ``iterate`` to translate.
        """
        async with client.stream(
            "POST", path, content=written(body), headers=JSON_HEADERS
        ) as response:
            if response.is_error:
                await response.aread()
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.strip():
                    piece = self.read_object(line)
                    if "error" in piece:
                        raise self.seam.refused(Refusal(status=500, said=str(piece["error"])))
                    yield piece


def _with_scheme(given: str) -> str:
    """Return an address as a URL: ``127.0.0.1``, ``:11434``, ``box:8000/v1``, ``http://box``."""
    has_scheme = "://" in given
    parts = urlsplit(given if has_scheme else f"http://{given}")
    user, at, host = parts.netloc.rpartition("@")
    if not has_scheme and not re.search(r":\d+$", host):
        host = f"{host.removesuffix(':')}:{_PORT}"
    host = re.sub(r"^(0\.0\.0\.0|\[::\])?(?=:|$)", "127.0.0.1", host)
    return parts._replace(netloc=f"{user}{at}{host}").geturl()
