"""Yes or no: what the answer contains, matches or equals."""

from __future__ import annotations

import unicodedata

import regex

from holodeck.errors import EvaluationError
from holodeck.lib.test_runner.metrics.numbers import numbers_in, why_no_number
from holodeck.lib.test_runner.scores import Sample
from holodeck.models.evaluation import Metric

__all__ = ["contains", "equals", "has_number", "matches"]

MATCH_SECONDS = 2.0
"""What matching one answer may take: some expressions would go on for ever."""

_APOSTROPHES = str.maketrans(dict.fromkeys("‘’ʼ＇", "'"))


def contains(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether the answer holds every value, else the ground truth; compared as by ``equals``."""
    wanted = metric.values or (sample.expected.ground_truth or "",)
    answer = _plain(sample.answer, metric)
    missing = [value for value in wanted if _plain(value, metric) not in answer]
    if missing:
        return 0.0, f"missing: {', '.join(repr(value) for value in missing)}"
    return 1.0, "all there"


def matches(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether the expression matches anywhere in the answer.

    Raises:
        EvaluationError: It takes too long to find out.
    """
    flags = regex.MULTILINE if metric.case_sensitive else regex.MULTILINE | regex.IGNORECASE
    try:
        found = regex.search(metric.pattern or "", sample.answer, flags, timeout=MATCH_SECONDS)
    except TimeoutError as error:
        raise EvaluationError(
            f"pattern {metric.pattern!r} took more than {MATCH_SECONDS:g} s on the answer: write "
            "it without a repetition inside another one, as in (a+)+"
        ) from error
    if found is None:
        return 0.0, f"no match of {metric.pattern!r}"
    return 1.0, f"matches {found[0]!r}"


def equals(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether the answer is the ground truth; forms of blanks and apostrophes are alike."""
    is_equal = _plain(sample.answer, metric) == _plain(sample.expected.ground_truth or "", metric)
    return (1.0, "equal") if is_equal else (0.0, "not equal")


def has_number(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether a number of the answer is that of the ground truth, within the tolerance.

    Raises:
        EvaluationError: The ground truth is not one number.
    """
    truth = sample.expected.ground_truth or ""
    if why := why_no_number(truth):
        raise EvaluationError(f"the ground_truth {why}: write one number")
    (wanted,) = numbers_in(truth)
    found = numbers_in(sample.answer)
    if not found:
        return 0.0, "the answer holds no number"
    nearest = min(found, key=lambda number: abs(number - wanted))
    is_near = abs(nearest - wanted) <= metric.tolerance + 1e-9 * max(1.0, abs(wanted))
    return float(is_near), f"nearest to {wanted:g} is {nearest:g}"


def _plain(text: str, metric: Metric) -> str:
    one_form = unicodedata.normalize("NFC", text).translate(_APOSTROPHES)
    one_line = " ".join(one_form.split())
    return one_line if metric.case_sensitive else one_line.casefold()
