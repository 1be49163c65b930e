"""What can be measured of an answer: one row a metric, imported when it is asked for.

A metric is a function of the sample, its settings and, where it needs one, a judge. Values are
from 0 (worst) to 1 (best).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holodeck.lib.imports import load_object
from holodeck.lib.test_runner.scores import Sample, Score
from holodeck.models.evaluation import JUDGED, Metric, MetricName

if TYPE_CHECKING:
    from holodeck.lib.test_runner.judge import Judge

__all__ = ["METRICS", "METRIC_EXTRAS", "NEEDS_GROUND_TRUTH", "measure"]

_HERE = "holodeck.lib.test_runner.metrics"

METRICS: dict[MetricName, str] = {
    "contains": f"{_HERE}.text:contains",
    "regex": f"{_HERE}.text:matches",
    "equality": f"{_HERE}.text:equals",
    "numeric": f"{_HERE}.text:has_number",
    "f1": f"{_HERE}.overlap:f1",
    "rouge_l": f"{_HERE}.overlap:rouge_l",
    "bleu": f"{_HERE}.overlap:bleu",
    "expected_tools": f"{_HERE}.retrieval:expected_tools",
    "source_recall": f"{_HERE}.retrieval:source_recall",
    "source_precision": f"{_HERE}.retrieval:source_precision",
    "faithfulness": f"{_HERE}.judged:faithfulness",
    "relevancy": f"{_HERE}.judged:relevancy",
    "geval": f"{_HERE}.judged:geval",
}
"""Metric → its function, which returns the value and the reason."""

METRIC_EXTRAS: dict[MetricName, str] = {"rouge_l": "evaluation", "bleu": "evaluation"}
"""Metric → the extra that it needs."""

NEEDS_GROUND_TRUTH: frozenset[MetricName] = frozenset(
    {"equality", "numeric", "f1", "rouge_l", "bleu"}
)
"""Metrics that compare with the ground truth; ``contains`` does where it has no values."""


async def measure(metric: Metric, sample: Sample, judge: Judge | None) -> Score:
    """Return what ``metric`` says of an answer.

    A judge that cannot judge gives a score without a value and with the reason.
    """
    function = load_object(METRICS[metric.metric])
    if metric.metric in JUDGED:
        assert judge is not None
        value, reason = await function(sample, metric, judge)
    else:
        value, reason = function(sample, metric)
    return Score(label=metric.label, value=value, threshold=metric.limit, reason=reason)
