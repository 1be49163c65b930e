"""The table of rerankers: one row and one file each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from holodeck.lib.contracts import Reranker
from holodeck.lib.extras import require_extra
from holodeck.lib.imports import load_object
from holodeck.lib.meter import Meter
from holodeck.lib.prices import Price, find_price
from holodeck.lib.providers.access import ModelAccess, find_key

if TYPE_CHECKING:
    from holodeck.models.config import ExecutionConfig
    from holodeck.models.reranker import RerankerConfig, RerankerName

__all__ = [
    "RERANKER_TABLE",
    "RerankerRow",
    "check_reranker",
    "open_reranker",
    "reranker_name",
    "reranker_price",
]

WHERE = "reranker"


@dataclass(frozen=True, kw_only=True)
class RerankerRow:
    """What there is to know of a reranker before its module is imported.

    Attributes:
        reranker: ``module:Class`` of its ``Reranker``; called with ``ModelAccess`` and a meter.
        default: Model when YAML names none.
        key_variable: Environment variable of the API key; ``None`` where none is needed.
        extra: The extra that brings its packages.
    """

    reranker: str
    default: str = ""
    key_variable: str | None = None
    extra: str | None = None


RERANKER_TABLE: dict[RerankerName, RerankerRow] = {
    "cohere": RerankerRow(
        reranker="holodeck.lib.providers.rerank_http:CohereReranker",
        default="rerank-v3.5",
        key_variable="COHERE_API_KEY",
    ),
    "vllm": RerankerRow(reranker="holodeck.lib.providers.rerank_http:VllmReranker"),
    "embedded": RerankerRow(
        reranker="holodeck.lib.providers.rerank_embedded:WordReranker",
        default="wordllama",
        extra="embedded",
    ),
}
"""Provider → its row."""


def check_reranker(settings: RerankerConfig, environ: Mapping[str, str]) -> None:
    """Find a missing key or package, without importing anything.

    Raises:
        ConfigError: Something is missing.
    """
    row = RERANKER_TABLE[settings.provider]
    if row.extra is not None:
        require_extra(row.extra, f"{WHERE}: {{provider: {settings.provider}}}")
    _key(settings, row, environ)


def reranker_name(settings: RerankerConfig) -> str:
    """Return the name of the model."""
    return settings.name or RERANKER_TABLE[settings.provider].default


def reranker_price(settings: RerankerConfig, execution: ExecutionConfig) -> Price | None:
    """Return what a search unit costs; ``None``: nobody knows."""
    name = reranker_name(settings)
    return find_price(settings.provider, name, "rerank", own=execution.prices)


def open_reranker(
    settings: RerankerConfig,
    execution: ExecutionConfig,
    environ: Mapping[str, str],
    meter: Meter,
) -> Reranker:
    """Return the reranker; what is paid for is counted in the meter.

    Raises:
        ConfigError: As for ``check_reranker``.
    """
    check_reranker(settings, environ)
    row = RERANKER_TABLE[settings.provider]
    access = ModelAccess(
        provider=settings.provider,
        name=reranker_name(settings),
        api_key=_key(settings, row, environ),
        api_base=settings.api_base,
        timeout=execution.llm_timeout,
        max_retries=execution.max_retries,
        retry_budget=execution.retry_budget,
        where=WHERE,
        price=reranker_price(settings, execution),
    )
    reranker: Reranker = load_object(row.reranker)(access, meter)
    return reranker


def _key(
    settings: RerankerConfig, row: RerankerRow, environ: Mapping[str, str]
) -> SecretStr | None:
    return find_key(
        settings.api_key, row.key_variable, environ, provider=settings.provider, where=WHERE
    )
