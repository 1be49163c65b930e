"""What the report of a community is written from."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from holodeck.lib.contracts import Report
from holodeck.lib.graphrag.community_context import MAX_INPUT_TOKENS, Finer, community_context
from holodeck.lib.graphrag.write_context import report_context
from holodeck.lib.tokens import count_tokens

pytestmark = pytest.mark.unit

LONG = "word " * 9000

Row = dict[str, Any]  # Any: a row of a table


def entity(title: str, description: str = "d") -> Row:
    return {
        "title": title,
        "description": description,
        "human_readable_id": 1,
        "type": "",
        "degree": 1,
    }


def edge(source: str, target: str, description: str = "d") -> Row:
    return {
        "source": source,
        "target": target,
        "description": description,
        "human_readable_id": 1,
        "weight": 1.0,
    }


def test_a_record_that_does_not_fit_keeps_no_shorter_one_out() -> None:
    """The relationships that fit are those that are told of, best first."""
    members = [entity("A"), entity("B"), entity("C"), entity("D", LONG), entity("E")]
    inside = [edge("A", "B", LONG), edge("A", "D"), edge("B", "C")]
    context = community_context(members, inside, ()).context

    assert [(each.source, each.target) for each in context.relationships] == [("B", "C")]
    assert [each.title for each in context.entities] == ["B", "C", "A", "E"]


def test_relationships_come_in_the_order_of_their_rank() -> None:
    """As many as fit, from the best on, each with its ends."""
    names = [f"N{number}" for number in range(40)]
    inside = [edge(a, b, "word " * 400) for a, b in pairwise(names)]
    shown = community_context([entity(n) for n in names], inside, ()).context.relationships

    assert 10 < len(shown) < 25
    assert [each.source for each in shown] == names[: len(shown)]


@pytest.mark.parametrize(
    "piece", ["word ", '"x",', "漢字", "🚀", "<|>", "####\n", "\n\n\n", "1", ",", "\x00"]
)
@pytest.mark.parametrize("count", [1, 3])
def test_no_context_outgrows_its_budget(piece: str, count: int) -> None:
    """Whatever a description is made of, and also where not one record fits."""
    text = (piece * 30_000)[:40_000]
    members = [entity(f"N{number}", text) for number in range(count)]
    inside = [edge("N0", "N1", text)] if count > 1 else []
    finer = [
        Finer(
            number=1,
            report=Report(title="T", summary=text),
            titles=frozenset(m["title"] for m in members),
        )
    ]
    for reports in ((), finer):
        context = community_context(members, inside, reports).context

        assert 0 < count_tokens(report_context(context)) <= MAX_INPUT_TOKENS


def test_a_report_that_is_missing_is_made_up_for_by_its_records() -> None:
    """What no finer report tells of is told of itself."""
    members = [entity("A"), entity("B"), *(entity(f"N{n}", "word " * 900) for n in range(12))]
    told = frozenset(row["title"] for row in members[2:])
    finer = [Finer(number=1, report=Report(title="T", summary="S"), titles=told)]
    context = community_context(members, [edge("A", "B")], finer).context

    assert [each.title for each in context.sub_reports] == ["T"]
    assert [each.title for each in context.entities] == ["A", "B"]
