"""A client that speaks plain HTTP and JSON, and its failures as errors of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import httpx

from holodeck.errors import ProviderError
from holodeck.lib.providers.client import CONNECT_SECONDS, ModelClient
from holodeck.lib.providers.seam import Refusal, Seam

__all__ = ["BROKEN_OFF", "JSON_HEADERS", "HttpClient", "HttpSeam", "Json", "written"]

Json = dict[str, Any]  # Any: JSON

BROKEN_OFF = (httpx.ReadError, httpx.RemoteProtocolError)
"""What is raised when a server was reached, and its answer did not come to an end."""

JSON_HEADERS = {"Content-Type": "application/json"}


def written(body: Json) -> bytes:
    """Return the body of a request."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


@dataclass(frozen=True, kw_only=True)
class HttpSeam(Seam):
    """Reads the errors of plain HTTP."""

    no_answer: ClassVar[str]
    """What is said of an answer that is not the server's kind of answer."""

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
        if isinstance(error, BROKEN_OFF):
            return self.broken_off(str(error) or type(error).__name__)
        if isinstance(error, httpx.HTTPError):
            return self.unreachable(str(error) or type(error).__name__)
        return self.not_an_answer()

    def not_an_answer(self, why: str = "") -> ProviderError:
        """Return the error for an answer that cannot be used, and will not be at a second try."""
        return self.unusable(f"{why}: {self.no_answer}" if why else self.no_answer, retryable=False)


def _said_by(response: httpx.Response) -> str:
    """Return the server's own words: of ``error``, of ``message``, or all of them."""
    try:
        said = response.json()
    except ValueError:
        return response.text or response.reason_phrase
    for name in ("error", "message"):
        if isinstance(said, Mapping) and name in said:
            said = said[name]
    return str(said)


class HttpClient(ModelClient[httpx.AsyncClient]):
    """Reaches one model over plain HTTP."""

    seam: HttpSeam
    errors: ClassVar[tuple[type[Exception], ...]] = (httpx.HTTPError, TimeoutError, ValueError)

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
        response = await client.post(path, content=written(body), headers=JSON_HEADERS)
        response.raise_for_status()
        return self.read_object(response.text)

    def read_object(self, text: str) -> Json:
        """Return a JSON object.

        Raises:
            ProviderError: It is none.
        """
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise self.seam.not_an_answer()
        return found
