"""Which tools were called, and what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holodeck.lib.quantities import number_of
from holodeck.lib.results import Source
from holodeck.lib.test_runner.scores import Sample
from holodeck.lib.test_runner.turns import ToolUse
from holodeck.models.evaluation import Metric
from holodeck.models.test_case import ExpectedTool

__all__ = ["expected_tools", "source_precision", "source_recall"]


def expected_tools(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Whether every expected tool was called as said; a call that failed counts as a call."""
    wanted = sample.expected.expected_tools or ()
    problems = [problem for tool in wanted if (problem := _problem(tool, sample.turn.tool_uses))]
    if not wanted and sample.turn.tool_uses:
        problems = [f"none was expected, and {_names(sample.turn.tool_uses)} called"]
    return (0.0, "; ".join(problems)) if problems else (1.0, "called as expected")


def source_recall(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Share of the expected sources that the tools found."""
    wanted = sample.expected.expected_sources or ()
    missing = [name for name in wanted if not any(_is(name, s) for s in sample.turn.sources)]
    if not wanted:
        return 0.0, "no source is expected: write expected_sources, or remove the metric"
    reason = f"not found: {', '.join(missing)}" if missing else "all found"
    return 1 - len(missing) / len(wanted), reason


def source_precision(sample: Sample, metric: Metric) -> tuple[float, str]:
    """Share of the sources found that were expected, each place counted once."""
    wanted = sample.expected.expected_sources or ()
    found = {str(source): source for source in sample.turn.sources}
    if not found:
        return 0.0, "nothing was found"
    right = sum(any(_is(name, source) for name in wanted) for source in found.values())
    return right / len(found), f"{right} of {len(found)} places were expected"


def _is(name: str, source: Source) -> bool:
    return name in (source.path, str(source))


def _problem(tool: ExpectedTool, uses: Sequence[ToolUse]) -> str | None:
    calls = [use for use in uses if use.name == tool.name]
    if tool.count is not None and len(calls) != tool.count:
        return f"{tool.name} was called {number_of(len(calls), 'times')} instead of {tool.count}"
    if tool.count is None and not calls:
        return f"{tool.name} was not called"
    if tool.arguments is None:
        return None
    if any(_has(tool.arguments, use.arguments) for use in calls):
        return None
    return f"no call of {tool.name} had the arguments {tool.arguments}"


def _has(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:  # Any: JSON
    return all(name in given and given[name] == value for name, value in wanted.items())


def _names(uses: Sequence[ToolUse]) -> str:
    called = dict.fromkeys(use.name for use in uses)
    return f"{', '.join(called)} {'was' if len(called) == 1 else 'were'}"
