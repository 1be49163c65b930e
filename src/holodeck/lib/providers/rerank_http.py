"""Rerankers behind a server: Cohere's, and vLLM's, which speaks the same format.

Cohere: POST /v2/rerank; vLLM: POST /v1/rerank. Both take ``model``, ``query`` and ``documents`` and
answer ``{"results": [{"index": 0, "relevance_score": 0.9}, …]}``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

import httpx

from holodeck.lib.contracts import Candidate, Reranker
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.http_client import HttpClient, HttpSeam, Json
from holodeck.lib.providers.retry import RetryPolicy, tried
from holodeck.lib.providers.seam import Seam

__all__ = ["CohereReranker", "VllmReranker"]

COHERE_URL = "https://api.cohere.com"
_PURPOSE = "rerank"
_BEHIND_THE_SERVER = re.compile(r"(/v[12])?(/rerank)?/*$")


class _RerankSeam(HttpSeam):
    """Knows what a reranker answers."""

    no_answer: ClassVar[str] = "it is no answer of a reranker: check the URL"


class _RerankClient(HttpClient):
    """Reaches one reranking model."""

    seam_class: ClassVar[type[Seam]] = _RerankSeam

    @staticmethod
    def find_endpoint(access: ModelAccess) -> Endpoint:
        """Return the server's address, the version and the call at its end dropped."""
        return endpoint_of(access, COHERE_URL, version_path="", dropped=_BEHIND_THE_SERVER)


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

    async def _post(self, client: httpx.AsyncClient, body: Json) -> list[float]:
        found = await self._client.post(client, self.path, body)
        results = found.get("results")
        scores = dict(_scores(results if isinstance(results, list) else []))
        count = len(body["documents"])
        if sorted(scores) != list(range(count)):
            raise self._client.seam.not_an_answer(f"{len(scores)} scores for {count} passages")
        return [scores[number] for number in range(count)]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _scores(results: Sequence[object]) -> Iterator[tuple[int, float]]:
    """Yield the passages that have a score, and it."""
    for item in results:
        if isinstance(item, dict):
            number, score = item.get("index"), item.get("relevance_score")
            if isinstance(number, int) and isinstance(score, int | float) and math.isfinite(score):
                yield number, float(score)


class CohereReranker(_HttpReranker):
    """Cohere's models, at Cohere or wherever ``api_base`` leads."""

    path: ClassVar[str] = "/v2/rerank"


class VllmReranker(_HttpReranker):
    """A cross-encoder that a server of vLLM runs."""

    path: ClassVar[str] = "/v1/rerank"
