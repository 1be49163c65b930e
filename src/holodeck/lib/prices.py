"""What a model costs: the prices that YAML gives, else those of the table that ships with us.

A price that nobody knows is ``None``, never 0.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from holodeck.lib.contracts import Usage
from holodeck.models.config import ModelPrice

__all__ = ["FREE_PROVIDERS", "Kind", "Price", "find_price", "looked_for", "money", "table_date"]

Kind = Literal["chat", "embedding", "rerank"]

FREE_PROVIDERS = ("embedded", "ollama", "vllm")
"""Their models run on machines of one's own."""

DEFAULT_MAX_OUTPUT = 16_384
"""Tokens of the greatest reply, where nobody says how long a model's replies may be."""

# gpt-4o-2024-11-20 and gpt-4-0613 are gpt-4o and gpt-4 as they were on a day.
_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4})$")
_MILLION = 1_000_000
_THOUSAND = 1_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """USD per million tokens, and per call.

    Attributes:
        input: Of what is sent or embedded.
        output: Of what is answered.
        call: USD of a call by itself: of one search unit of a reranker.
        max_output: Tokens of the greatest reply.
    """

    input: float = 0.0
    output: float = 0.0
    call: float = 0.0
    max_output: int = DEFAULT_MAX_OUTPUT

    def of(self, usage: Usage) -> float:
        """Return what a call cost, in USD."""
        tokens = usage.input_tokens * self.input + usage.output_tokens * self.output
        return self.call + tokens / _MILLION


FREE = Price()


def find_price(
    provider: str,
    name: str,
    kind: Kind,
    *,
    deployment: str | None = None,
    own: Mapping[str, ModelPrice] | None = None,
) -> Price | None:
    """Return the price of a model; ``None``: it is not known.

    First what YAML says under one of ``looked_for``; then what costs nothing; then the table, by
    the whole name and by the name without a date at its end. The beginning of a name decides
    nothing: ``gpt-4o-audio-preview`` is not ``gpt-4o``.
    """
    for key in looked_for(provider, name, deployment):
        if own is not None and key in own:
            return _own(own[key], kind, _in_table(provider, name, kind))
    if provider in FREE_PROVIDERS:
        return FREE
    return _in_table(provider, name, kind)


def looked_for(provider: str, name: str, deployment: str | None = None) -> tuple[str, ...]:
    """Return the keys of ``execution.prices`` that a model's price may stand under."""
    names = dict.fromkeys(each for each in (deployment, name) if each)
    return (*(f"{provider}/{each}" for each in names), *names)


def _own(given: ModelPrice, kind: Kind, known: Price | None) -> Price | None:
    if kind == "rerank":
        return None if given.search is None else Price(call=given.search / _THOUSAND)
    if given.input is None or (kind == "chat" and given.output is None):
        return None  # half a price is none
    fallback = DEFAULT_MAX_OUTPUT if known is None else known.max_output
    return Price(
        input=given.input, output=given.output or 0.0, max_output=given.max_output or fallback
    )


def _in_table(provider: str, name: str, kind: Kind) -> Price | None:
    rows = _table().get(provider, {}).get(kind, {})
    row = rows.get(name.lower(), rows.get(_DATE.sub("", name.lower())))
    if row is None:
        return None
    if kind == "embedding":
        return Price(input=row)
    if kind == "rerank":
        return Price(call=row / _THOUSAND)
    sent, answered, max_output = row
    return Price(input=sent, output=answered, max_output=max_output)


@cache
def _table() -> dict[str, Any]:  # Any: TOML
    return tomllib.loads((files("holodeck.data") / "prices.toml").read_text(encoding="utf-8"))


def table_date() -> str:
    """Return the day that the prices of the table were those of the vendors."""
    return str(_table()["as_of"])


def money(dollars: float) -> str:
    """Return an amount as messages say it: two digits that count, cents where it is more."""
    if dollars == 0 or dollars >= 1:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.0001 else f"${Decimal(f'{dollars:.1g}'):f}"
