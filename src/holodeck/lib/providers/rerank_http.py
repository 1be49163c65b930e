"""Rerankers behind a server: Cohere's, and vLLM's, which speaks the same format.

Cohere: POST /v2/rerank; vLLM: POST /v1/rerank. Both take ``model``, ``query`` and ``documents`` and
answer ``{"results": [{"index": 0, "relevance_score": 0.9}, …]}``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import httpx

from holodeck.errors import ProviderError
from holodeck.lib.contracts import Candidate, Reranker
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.client import CONNECT_SECONDS, ModelClient
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.retry import RetryPolicy, tried
from holodeck.lib.providers.seam import Refusal, Seam

__all__ = ["CohereReranker", "VllmReranker"]

COHERE_URL = "https://api.cohere.com"
_PURPOSE = "rerank"
_NO_ANSWER = "it is no answer of a reranker: check the URL"


@dataclass(frozen=True, kw_only=True)
class _RerankSeam(Seam):
    """Reads the errors of plain HTTP."""

    def translate(self, error: Exception, purpose: str) -> ProviderError:
        """Return the error of ours for ``error``, which a call for ``purpose`` raised."""
        if isinstance(error, httpx.HTTPStatusError):
            response = error.response
            return self.refused(
                Refusal(
                    status=response.status_code,
                    said=_said_by(response),
                    headers=response.headers,
                )
            )
        if isinstance(error, UnicodeEncodeError | httpx.LocalProtocolError):
            return self.unsendable()
        late = isinstance(error, httpx.TimeoutException | TimeoutError)
        if late and not isinstance(error, httpx.ConnectTimeout):
            return self.late(purpose)
        if isinstance(error, httpx.HTTPError):
            return self.unreachable(str(error) or type(error).__name__)
        return self.unusable(_NO_ANSWER, retryable=False)


def _said_by(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return response.text or response.reason_phrase
    if isinstance(body, dict):
        error = body.get("error", body)
        return str(error.get("message", error) if isinstance(error, dict) else error)
    return str(body)


class _RerankClient(ModelClient[httpx.AsyncClient]):
    """Reaches one reranking model."""

    seam_class: ClassVar[type[Seam]] = _RerankSeam
    errors: ClassVar[tuple[type[Exception], ...]] = (httpx.HTTPError, TimeoutError, ValueError)

    @staticmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return the server's address, the version and the call at its end dropped."""
        found = endpoint_of(access, COHERE_URL, version_path="")
        for tail in ("/rerank", "/v1", "/v2"):
            if found.url.endswith(tail):
                return Endpoint(
                    url=found.url.removesuffix(tail).removesuffix("/v1").removesuffix("/v2"),
                    password=found.password,
                    authorization=found.authorization,
                )
        return found

    def open_client(self) -> httpx.AsyncClient:
        """Return a new client; this machine's own server is reached past any proxy."""
        seconds = self.access.timeout
        told = self.endpoint.authorization or (f"Bearer {self.key}" if self.key else None)
        return httpx.AsyncClient(
            base_url=self.endpoint.url,
            headers={} if told is None else {"Authorization": told},
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            trust_env=not self.endpoint.is_loopback,
        )

    @staticmethod
    async def close_client(client: httpx.AsyncClient) -> None:
        """Close the connections of a client."""
        await client.aclose()


class _HttpReranker(Reranker):
    """Asks a server, again where it failed in passing."""

    path: ClassVar[str]

    def __init__(self, access: ModelAccess) -> None:
        self.provider = access.provider
        self.name = access.name
        self._client = _RerankClient(access)
        self._policy = RetryPolicy.of(access)

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return one score for each candidate, in their order."""
        body = {
            "model": self.name,
            "query": question,
            "documents": [candidate.text for candidate in candidates],
            "top_n": len(candidates),
        }

        async def once() -> list[float]:
            return await self._client.call(_PURPOSE, lambda client: self._post(client, body))

        return await tried(self._policy, question, once)

    async def _post(self, client: httpx.AsyncClient, body: dict[str, Any]) -> list[float]:
        written = json.dumps(body, ensure_ascii=False).encode()
        response = await client.post(
            self.path, content=written, headers={"Content-Type": "application/json"}
        )
        response.raise_for_status()
        found = response.json()
        scores: dict[int, float] = {}
        if isinstance(found, dict) and isinstance(found.get("results"), list):
            for item in found["results"]:
                if isinstance(item, dict) and isinstance(item.get("index"), int):
                    scores[item["index"]] = float(item.get("relevance_score", "nan"))
        count = len(body["documents"])
        if sorted(scores) != list(range(count)) or not all(map(math.isfinite, scores.values())):
            raise self._client.seam.unusable(
                f"{len(scores)} scores for {count} passages: {_NO_ANSWER}", retryable=False
            )
        return [scores[number] for number in range(count)]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


class CohereReranker(_HttpReranker):
    """Cohere's models, at Cohere or wherever ``api_base`` leads."""

    path: ClassVar[str] = "/v2/rerank"


class VllmReranker(_HttpReranker):
    """A cross-encoder that a server of vLLM runs."""

    path: ClassVar[str] = "/v1/rerank"
