"""What a build will cost, or did, in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from holodeck.lib.quantities import number_of

if TYPE_CHECKING:
    from holodeck.lib.contracts import Estimate, MeterRow, Span, Spending

__all__ = [
    "estimate_json",
    "estimate_lines",
    "most_json",
    "most_line",
    "said_cost",
    "spending_json",
    "spending_lines",
]


def estimate_lines(estimate: Estimate) -> Iterator[str]:
    """Yield what the next build will take, a line for each step."""
    if estimate.reason is None:
        yield "  nothing to build"
        return
    yield (
        f"  {number_of(estimate.documents, 'documents')}, {number_of(estimate.chunks, 'chunks')}"
    )
    for row in estimate.rows:
        texts = f", {number_of(_span(row.texts), 'texts')}" if row.texts.high else ""
        yield (
            f"  {row.step}: {number_of(_span(row.calls), 'calls')} of {row.model}{texts}, "
            f"{_sent(row.input_tokens)}{_answered(row.output_tokens)}"
        )
    yield (
        f"  together: {number_of(_span(estimate.calls), 'calls')}, "
        f"{_sent(estimate.input_tokens)}{_answered(estimate.output_tokens)}"
    )
    yield f"  cost: {said_cost(estimate)}"


def said_cost(estimate: Estimate) -> str:
    """Return the money in words."""
    from holodeck.lib.prices import money
    from holodeck.lib.spending import price_hint

    if estimate.cost is None:
        return f"unknown, since {price_hint(estimate.unpriced)}"
    low, high = money(estimate.cost.low), money(estimate.cost.high)
    return low if low == high else f"{low} to {high}"


def estimate_json(estimate: Estimate) -> dict[str, Any]:  # Any: JSON
    """Return the estimate as ``--json`` prints it."""
    return {
        "reason": estimate.reason,
        "documents": estimate.documents,
        "chunks": estimate.chunks,
        "calls": _whole(estimate.calls),
        "input_tokens": _whole(estimate.input_tokens),
        "output_tokens": _whole(estimate.output_tokens),
        "cost": None if estimate.cost is None else asdict(estimate.cost),
        "unpriced": list(estimate.unpriced),
        "steps": [asdict(row) for row in estimate.rows],
    }


def most_line(estimates: Sequence[Estimate]) -> str:
    """Return what several builds, one after the other, take at most."""
    from holodeck.lib.prices import money

    most = most_json(estimates)
    cost = "an unknown amount" if most["cost"] is None else money(most["cost"])
    return (
        f"all tools: at most {number_of(most['calls'], 'calls')} and {cost}; replies that two of "
        "them share are paid for once"
    )


def most_json(estimates: Sequence[Estimate]) -> dict[str, Any]:  # Any: JSON
    """Return the same as ``--json`` prints it."""
    costs = [None if each.cost is None else each.cost.high for each in estimates]
    known = [cost for cost in costs if cost is not None]
    return {
        "calls": sum(math.ceil(each.calls.high) for each in estimates),
        "cost": sum(known) if len(known) == len(costs) else None,
    }


def _whole(span: Span) -> dict[str, int]:
    """Return a range of things that are counted, as whole numbers that enclose it."""
    return {"low": math.floor(span.low), "high": math.ceil(span.high)}


def spending_lines(spending: Spending) -> Iterator[str]:
    """Yield what an index cost: the build, and all of them where there were others."""
    from holodeck.lib.spending import said_spent, total

    build, all_builds = total(spending.build), total(spending.total)
    if spending.build:
        yield f"  this build: {said_spent(build)}{_unpriced(spending.build)}"
    if spending.taken:
        yield f"  from the cache: {spending.taken:,} replies and vectors, paid for before"
    if all_builds.calls > build.calls:
        yield f"  all builds: {said_spent(all_builds)}{_unpriced(spending.total)}"


def spending_json(spending: Spending | None) -> dict[str, Any] | None:  # Any: JSON
    """Return what an index cost as ``--json`` prints it."""
    from holodeck.lib.spending import spent_as_json

    if spending is None:
        return None
    return {
        "build": spent_as_json(spending.build),
        "total": spent_as_json(spending.total),
        "taken_from_cache": spending.taken,
    }


def _unpriced(rows: Sequence[MeterRow]) -> str:
    from holodeck.lib.spending import price_hint, unpriced_models

    names = unpriced_models(rows)
    return f" ({price_hint(names)})" if names else ""


def _span(span: Span) -> str:
    low, high = round(span.low), round(span.high)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _sent(tokens: Span) -> str:
    return f"{number_of(_span(tokens), 'tokens')} in"


def _answered(tokens: Span) -> str:
    return f", {_span(tokens)} out" if tokens.high else ""
