"""What a run of test cases looks like on a terminal of 80 columns."""

from __future__ import annotations

import pytest

from holodeck.cli.case_lines import tables
from holodeck.lib.contracts import MeterRow, Spent, Usage
from holodeck.lib.test_runner.scores import CaseResult, RunResult, Score, TurnResult
from holodeck.lib.test_runner.turns import Turn

METRICS = ("contains", "f1", "expected_tools", "source_recall", "faithfulness", "relevancy")


def run(metrics: tuple[str, ...], *, is_paid: bool) -> RunResult:
    """Return a run of one case with so many metrics, and perhaps a price."""
    usage = Usage(input_tokens=123_456, output_tokens=7_890)
    row = MeterRow(
        purpose="chat",
        provider="openai",
        model="m",
        spent=Spent(calls=3, usage=usage, cost=12.3456),
    )
    turn = TurnResult(
        question="Who?",
        turn=Turn(question="Who?", text="Ann", seconds=123.4),
        scores=[Score(label=name, value=0.25) for name in metrics],
        spent=[row] if is_paid else [],
    )
    name = "the one who looked at a globe and thought of going on"
    return RunResult(agent="a", cases=[CaseResult(name=name, turns=[turn])])


@pytest.mark.parametrize("count", range(1, len(METRICS) + 1))
@pytest.mark.parametrize("is_paid", [False, True])
def test_no_number_is_broken(count: int, is_paid: bool) -> None:
    """However many metrics: lines fit, and every head and number stands whole in some table."""
    lines = "\n".join(tables([run(METRICS[:count], is_paid=is_paid)])).splitlines()

    told = [line for line in lines if line.startswith(" ")]
    assert max(map(len, told)) <= 80
    words = " ".join(told).split()
    assert words.count("0.25") == count
    assert {"verdict", "reported", "seconds", "123.4"} <= set(words)
    assert ({"123,456", "7,890", "cost"} <= set(words)) is is_paid
    heads = [word for name in METRICS[:count] for word in name.split("_")]
    assert [head for head in heads if head not in words] == []
