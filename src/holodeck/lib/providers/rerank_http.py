"""Rerankers behind a server: Cohere's, and vLLM's, which speaks the same format.

Cohere: POST /v2/rerank; vLLM: POST /v1/rerank. Both take ``model``, ``query`` and ``documents`` and
answer ``{"results": [{"index": 0, "relevance_score": 0.9}, …]}``. Cohere says beside it, under
``meta.billed_units.search_units``, what it bills.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

import httpx

from holodeck.lib.contracts import Candidate, Reranker, Usage
from holodeck.lib.meter import Meter, record_call
from holodeck.lib.prices import Price
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.budget import reserved, with_spare
from holodeck.lib.providers.endpoint import Endpoint, endpoint_of
from holodeck.lib.providers.http_client import HttpClient, HttpSeam, Json
from holodeck.lib.providers.retry import RetryPolicy, tried
from holodeck.lib.providers.seam import Seam
from holodeck.lib.tokens import count_tokens

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

    def __init__(self, access: ModelAccess, meter: Meter | None = None) -> None:
        self.provider = access.provider
        self.name = access.name
        self._meter = meter or Meter()
        self._price = access.price
        self._where = access.where
        self._client = _RerankClient(access)
        self._policy = RetryPolicy.of(access)

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return one score for each candidate, in their order."""
        passages = [candidate.text for candidate in candidates]
        body = {
            "model": self.name,
            "query": question,
            "documents": passages,
            "top_n": len(candidates),
        }

        expected = search_units(question, passages)

        async def once() -> Json:
            async with reserved(
                self._price, lambda price: expected * price.call, self, self._where
            ) as receipt:
                found = await self._client.call(_PURPOSE, lambda client: self._post(client, body))
                receipt.cost = self._count(_billed(found, expected))
                return found

        return self._scores(await tried(self._policy, question, once), len(candidates))

    def _count(self, units: float) -> float:
        """Count an answered call; return what it cost as far as that is known."""
        price = None if self._price is None else Price(call=units * self._price.call)
        usage = Usage()  # it is billed by searches, not by tokens
        record_call(
            self._meter,
            provider=self.provider,
            model=self.name,
            purpose=_PURPOSE,
            usage=usage,
            price=price,
        )
        return 0.0 if price is None else price.of(usage)

    async def _post(self, client: httpx.AsyncClient, body: Json) -> Json:
        return await self._client.post(client, self.path, body)

    def _scores(self, found: Json, count: int) -> list[float]:
        results = found.get("results")
        scores = dict(_scores(results if isinstance(results, list) else []))
        if sorted(scores) != list(range(count)):
            raise self._client.seam.not_an_answer(f"{len(scores)} scores for {count} passages")
        return [scores[number] for number in range(count)]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


_UNIT_PASSAGES = 100
_PASSAGE_TOKENS = 500
"""Of a passage and the question; a longer passage counts as several."""


def search_units(question: str, passages: Sequence[str]) -> int:
    """Return how many search units Cohere counts at most for a call."""
    room = max(_PASSAGE_TOKENS - with_spare(count_tokens(question)), 1)
    parts = sum(-(-with_spare(count_tokens(passage)) // room) for passage in passages)
    return -(-parts // _UNIT_PASSAGES)


def _billed(found: Json, expected: int) -> float:
    """Return the units that an answer says were billed; where it says nothing, the expected."""
    meta = found.get("meta")
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    units = billed.get("search_units") if isinstance(billed, dict) else None
    if isinstance(units, int | float) and 0 <= units < math.inf:
        return float(units)
    return float(expected)


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
