"""What calls of models took, row by row: summed, in words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from holodeck.lib.contracts import MeterRow, Spent
from holodeck.lib.prices import money
from holodeck.lib.quantities import number_of

__all__ = [
    "price_hint",
    "said_cost",
    "said_spent",
    "spent_as_json",
    "summed",
    "total",
    "unpriced_models",
]


def summed(rows: Iterable[MeterRow]) -> tuple[MeterRow, ...]:
    """Return one row for each provider, model and purpose, sorted."""
    sums: dict[tuple[str, str, str], Spent] = {}
    for row in rows:
        key = (row.provider, row.model, row.purpose)
        sums[key] = sums.get(key, Spent()) + row.spent
    return tuple(
        MeterRow(provider=provider, model=model, purpose=purpose, spent=sums[key])
        for key in sorted(sums)
        for provider, model, purpose in [key]
    )


def total(rows: Iterable[MeterRow]) -> Spent:
    """Return the sum of all rows."""
    return sum((row.spent for row in rows), Spent())


def unpriced_models(rows: Iterable[MeterRow]) -> tuple[str, ...]:
    """Return the models whose price nobody knows, as ``provider/model``."""
    names = (f"{row.provider}/{row.model}" for row in rows if row.spent.unpriced)
    return tuple(dict.fromkeys(names))


def price_hint(models: Sequence[str]) -> str:
    """Say that the price of these models is not known, and what to do."""
    return f"nobody knows the price of {' and '.join(models)} (give it under execution.prices)"


def said_cost(spent: Spent) -> str:
    """Return the money in words; a price that nobody knows is not nothing."""
    if not spent.unpriced:
        return money(spent.cost)
    is_all = spent.unpriced == spent.calls
    return "cost unknown" if is_all else f"more than {money(spent.cost)}"


def said_spent(spent: Spent) -> str:
    """Return calls, tokens and money in words."""
    usage = spent.usage
    return (
        f"{number_of(spent.calls, 'calls')}, {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out, {said_cost(spent)}"
    )


def spent_as_json(rows: Sequence[MeterRow]) -> dict[str, Any]:  # Any: JSON
    """Return the rows and their sum as ``--json`` prints them; ``cost`` is null when unknown."""
    spent = total(rows)
    return {
        "calls": spent.calls,
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
        "cost": None if spent.unpriced else spent.cost,
        "unpriced": list(unpriced_models(rows)),
        "by_step": [asdict(row) for row in rows],
    }
