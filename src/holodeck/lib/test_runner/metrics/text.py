"""Yes or no: what the answer contains, matches or equals."""

from __future__ import annotations

import re

from holodeck.lib.test_runner.metrics.numbers import numbers_in
from holodeck.lib.test_runner.scores import Sample
from holodeck.models.evaluation import Metric

__all__ = ["contains", "equals", "has_number", "matches"]


def contains(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether the answer holds every value, else the ground truth; blanks count alike."""
    wanted = metric.values or (sample.expected.ground_truth or "",)
    answer = _plain(sample.answer, metric)
    missing = [value for value in wanted if _plain(value, metric) not in answer]
    if missing:
        return 0.0, f"missing: {', '.join(repr(value) for value in missing)}"
    return 1.0, "all there"


def matches(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether the expression matches anywhere in the answer."""
    flags = re.MULTILINE if metric.case_sensitive else re.MULTILINE | re.IGNORECASE
    found = re.search(metric.pattern or "", sample.answer, flags)
    if found is None:
        return 0.0, f"no match of {metric.pattern!r}"
    return 1.0, f"matches {found[0]!r}"


def equals(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether the answer is the ground truth, blanks aside."""
    is_equal = _plain(sample.answer, metric) == _plain(sample.expected.ground_truth or "", metric)
    return (1.0, "equal") if is_equal else (0.0, "not equal")


def has_number(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether a number of the answer is that of the ground truth, within the tolerance."""
    (wanted,) = numbers_in(sample.expected.ground_truth or "")
    found = numbers_in(sample.answer)
    if not found:
        return 0.0, "the answer holds no number"
    nearest = min(found, key=lambda number: abs(number - wanted))
    is_near = abs(nearest - wanted) <= metric.tolerance + 1e-9 * max(1.0, abs(wanted))
    return float(is_near), f"nearest to {wanted:g} is {nearest:g}"


def _plain(text: str, metric: Metric) -> str:
    one_line = " ".join(text.split())
    return one_line if metric.case_sensitive else one_line.casefold()
