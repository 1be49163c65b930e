"""Every metric of YAML, with an answer that passes by it and one that fails."""

from __future__ import annotations

from typing import Any

import pytest

from holodeck.lib.documents import Place
from holodeck.lib.results import Source
from holodeck.lib.test_runner.judge import Judge
from holodeck.lib.test_runner.metrics import METRICS, measure
from holodeck.lib.test_runner.scores import CaseResult, Sample, TurnResult
from holodeck.lib.test_runner.turns import ToolUse, Turn
from holodeck.models.evaluation import JUDGED, YES_OR_NO, Metric
from holodeck.models.llm import ModelSettings
from holodeck.models.test_case import CaseTurn
from holodeck.testing import ScriptedChat

USE = ToolUse(
    name="knowledge",
    arguments={"query": "Orion"},
    text="Found: Ann Lee runs Orion.",
    context="Ann Lee runs Orion.",
    sources=(
        Source(place=Place(path="ann.txt"), text_unit_id="1"),
        Source(place=Place(path="bob.md"), text_unit_id="2"),
    ),
)
TRUTH = {"ground_truth": "Ann Lee runs Orion"}
GOOD, BAD = "Ann Lee runs Orion", "Nobody knows 8"
SUPPORTED = '{"statements": [{"statement": "a", "supported": true}]}'
UNSUPPORTED = '{"statements": [{"statement": "a", "supported": false}]}'

# metric, settings, what is expected (passing, failing), answer or reply of a judge (the same)
EXAMPLES: list[tuple[str, dict[str, Any], tuple[Any, Any], tuple[str, str]]] = [
    ("contains", {"values": ["Ann", "Orion"]}, ({}, {}), (GOOD, BAD)),
    ("regex", {"pattern": r"\bAnn\b"}, ({}, {}), (GOOD, BAD)),
    ("equality", {}, (TRUTH, TRUTH), (GOOD, BAD)),
    ("numeric", {"tolerance": 0.5}, ({"ground_truth": "7"}, {"ground_truth": "7"}), ("7.5", BAD)),
    ("f1", {}, (TRUTH, TRUTH), (GOOD, BAD)),
    ("rouge_l", {}, (TRUTH, TRUTH), (GOOD, BAD)),
    ("bleu", {}, (TRUTH, TRUTH), (GOOD, BAD)),
    (
        "expected_tools",
        {},
        (
            {
                "expected_tools": [
                    {"name": "knowledge", "arguments": {"query": "Orion"}, "count": 1}
                ]
            },
            {"expected_tools": [{"name": "knowledge", "arguments": {"query": "Vega"}}]},
        ),
        (GOOD, GOOD),
    ),
    (
        "source_recall",
        {},
        ({"expected_sources": ["ann.txt"]}, {"expected_sources": ["cy.txt", "dora.txt"]}),
        (GOOD, GOOD),
    ),
    (
        "source_precision",
        {},
        ({"expected_sources": ["ann.txt", "bob.md"]}, {"expected_sources": ["cy.txt"]}),
        (GOOD, GOOD),
    ),
    ("faithfulness", {}, ({}, {}), (SUPPORTED, UNSUPPORTED)),
    ("relevancy", {}, ({}, {}), ('{"score": 9}', '{"score": 1}')),
    ("geval", {"criteria": "Polite?"}, ({}, {}), ('{"score": 9}', '{"score": 1}')),
]


async def verdict(
    name: str,
    settings: dict[str, Any],
    expected: dict[str, Any],
    said: str,
    threshold: float | None,
) -> str:
    """Return what becomes of a case that is judged by one metric."""
    limits = {} if threshold is None else {"threshold": threshold}
    metric = Metric.model_validate({"metric": name, **settings, **limits})
    is_judged = name in JUDGED
    turn = Turn(question="Who?", text=GOOD if is_judged else said, tool_uses=(USE,))
    sample = Sample(turn=turn, expected=CaseTurn(input="Who?", **expected))
    judge = Judge(ScriptedChat([said]), ModelSettings()) if is_judged else None
    score = await measure(metric, sample, judge)
    result = TurnResult(question="Who?", turn=turn, scores=(score,))
    return CaseResult(name="case", turns=(result,)).verdict


@pytest.mark.parametrize(
    ("name", "settings", "expected", "said"), EXAMPLES, ids=[row[0] for row in EXAMPLES]
)
async def test_a_metric_passes_what_is_right_and_fails_what_is_wrong(
    name: str, settings: dict[str, Any], expected: tuple[Any, Any], said: tuple[str, str]
) -> None:
    """With a threshold; without one a graded metric is reported, and passes and fails nothing."""
    good, bad = zip(expected, said, strict=True)
    assert await verdict(name, settings, *good, threshold=0.6) == "passed"
    assert await verdict(name, settings, *bad, threshold=0.6) == "failed"
    untold = ["passed", "failed"] if name in YES_OR_NO else ["reported", "reported"]
    assert [await verdict(name, settings, *each, threshold=None) for each in (good, bad)] == untold


def test_every_metric_has_an_example() -> None:
    """A new metric needs a row above."""
    assert [row[0] for row in EXAMPLES] == list(METRICS)


@pytest.mark.parametrize("name", ["faithfulness", "geval"])
async def test_a_judge_reads_the_context_and_not_the_rendered_answer(name: str) -> None:
    """What the tool answered from is judged on, not what it said of it."""
    chat = ScriptedChat([SUPPORTED if name == "faithfulness" else '{"score": 1}'])
    settings = {"criteria": "True?"} if name == "geval" else {}
    turn = Turn(question="Who?", text=GOOD, tool_uses=(USE,))
    sample = Sample(turn=turn, expected=CaseTurn(input="Who?"))
    await measure(
        Metric.model_validate({"metric": name, **settings}), sample, Judge(chat, ModelSettings())
    )
    sent = chat.requests[0].messages[-1].content
    assert "Ann Lee runs Orion." in sent
    assert "Found:" not in sent
