"""What a build will cost, and did, in words and as JSON."""

from __future__ import annotations

import json

import pytest

from holodeck.cli.cost_lines import (
    estimate_json,
    estimate_lines,
    most_json,
    most_line,
    spending_json,
    spending_lines,
)
from holodeck.cli.on_demand import is_asked_for
from holodeck.lib.contracts import (
    Estimate,
    EstimateRow,
    MeterRow,
    Span,
    Spending,
    Spent,
    Usage,
)


def row(step: str, cost: Span | None, **more: Span) -> EstimateRow:
    return EstimateRow(
        step=step,
        provider="openai",
        model="m",
        calls=Span.exactly(2),
        input_tokens=Span.exactly(1000),
        cost=cost,
        **more,
    )


def metered(calls: int, cost: float, unpriced: int = 0, model: str = "m") -> MeterRow:
    usage = Usage(input_tokens=1000 * calls, output_tokens=calls)
    spent = Spent(calls=calls, usage=usage, cost=cost, unpriced=unpriced)
    return MeterRow(provider="openai", model=model, purpose="extract", spent=spent)


ESTIMATE = Estimate(
    reason="there is no index yet",
    documents=3,
    chunks=1200,
    rows=(
        row("extract", Span(low=0.5, high=1.25), output_tokens=Span(low=10, high=99)),
        row("embed", Span.exactly(0.25), texts=Span.exactly(7)),
    ),
)


def test_an_estimate_is_a_line_for_each_step() -> None:
    """What is known is one number, what is not is two; the money is the sum."""
    assert list(estimate_lines(ESTIMATE)) == [
        "  3 documents, 1,200 chunks",
        "  extract: 2 calls of m, 1,000 tokens in, 10 to 99 out",
        "  embed: 2 calls of m, 7 texts, 1,000 tokens in",
        "  together: 4 calls, 2,000 tokens in, 10 to 99 out",
        "  cost: $0.7500 to $1.50",
    ]


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    """The sum of a known and an unknown amount is not the known one."""
    estimate = Estimate(reason="r", rows=(row("extract", None), row("embed", Span.exactly(1))))

    assert list(estimate_lines(estimate))[-1] == (
        "  cost: unknown, since nobody knows the price of openai/m (give it under execution.prices)"
    )
    assert estimate_json(estimate)["cost"] is None
    assert estimate_json(estimate)["unpriced"] == ["openai/m"]


def test_an_estimate_as_json_has_all_of_it() -> None:
    """Spans are two numbers, steps are rows; it is plain JSON."""
    document = json.loads(json.dumps(estimate_json(ESTIMATE)))

    assert document["calls"] == {"low": 4, "high": 4}
    assert document["cost"] == {"low": 0.75, "high": 1.5}
    assert [step["step"] for step in document["steps"]] == ["extract", "embed"]


def test_nothing_to_build_is_said() -> None:
    """An index that is up to date has no steps."""
    assert list(estimate_lines(Estimate(reason=None))) == ["  nothing to build"]


def test_what_was_spent_is_the_build_and_all_of_them() -> None:
    """All builds are told of where there were others; the cache where something came from it."""
    first = metered(2, 0.02)
    alone = Spending(build=(first,), total=(first,))
    again = Spending(build=(metered(1, 0.01),), total=(metered(3, 0.03),), taken=1234)

    assert list(spending_lines(alone)) == ["  this build: 2 calls, 2,000 tokens in, 2 out, $0.0200"]
    assert list(spending_lines(again)) == [
        "  this build: 1 call, 1,000 tokens in, 1 out, $0.0100",
        "  from the cache: 1,234 replies and vectors, paid for before",
        "  all builds: 3 calls, 3,000 tokens in, 3 out, $0.0300",
    ]
    assert list(spending_lines(Spending())) == []


def test_money_that_nobody_knows_is_not_zero() -> None:
    """Calls without a price are named; what is known beside them is said to be less than all."""
    unknown = metered(1, 0.0, unpriced=1, model="mine")
    mixed = Spending(build=(metered(1, 0.5), unknown))

    assert list(spending_lines(Spending(build=(unknown,)))) == [
        "  this build: 1 call, 1,000 tokens in, 1 out, cost unknown (nobody knows the price of "
        "openai/mine (give it under execution.prices))"
    ]
    assert ", more than $0.5000 (" in next(iter(spending_lines(mixed)))
    document = spending_json(mixed)
    assert document is not None
    assert document["build"]["cost"] is None
    assert document["build"]["unpriced"] == ["openai/mine"]
    assert spending_json(None) is None


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        ((), False),
        ((row("extract", Span(low=0, high=1.0)),), False),
        ((row("extract", Span(low=0, high=1.01)),), True),
        ((row("extract", None),), True),
    ],
)
def test_a_question_is_asked_above_the_amount(rows: tuple[EstimateRow, ...], asked: bool) -> None:
    """What a build may cost at most counts, and nobody knows how much an unknown price is."""
    assert is_asked_for(Estimate(reason="r", rows=rows), 1.0) is asked


def test_what_is_counted_is_whole_in_json() -> None:
    """Calls and tokens are numbers that a program may take as they are; the range is kept."""
    document = estimate_json(ESTIMATE)

    for name in ("calls", "input_tokens", "output_tokens"):
        span = getattr(ESTIMATE, name)
        assert {type(each) for each in document[name].values()} == {int}
        assert document[name]["low"] <= span.low <= span.high <= document[name]["high"]


def test_several_tools_have_one_sum_at_the_most() -> None:
    """One cap is over all of them; an unknown price leaves the sum unknown."""
    unknown = Estimate(reason="forced", rows=(row("extract", None),))

    assert most_json([ESTIMATE, ESTIMATE]) == {"calls": 8, "cost": 3.0}
    assert most_line([ESTIMATE, ESTIMATE]).startswith("all tools: at most 8 calls and $3.00;")
    assert most_json([ESTIMATE, unknown]) == {"calls": 6, "cost": None}
    assert "an unknown amount" in most_line([ESTIMATE, unknown])
