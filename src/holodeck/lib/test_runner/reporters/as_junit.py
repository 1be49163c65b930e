"""A run as JUnit XML, which CI servers read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from holodeck.lib.contracts import MeterRow
from holodeck.lib.spending import spent_as_json
from holodeck.lib.test_runner.reporters.tables import why_not
from holodeck.lib.test_runner.scores import CaseResult, RunResult

__all__ = ["report"]

# XML 1.0 has no form for these, not even an escaped one.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(runs: Sequence[RunResult]) -> str:
    """Return a ``testsuite`` a run; ``unjudged`` and ``error`` are errors, ``not run`` skipped."""
    suites = ET.Element("testsuites")
    for run in runs:
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=_text(f"{run.agent} {run.variant}".strip()),
            tests=str(len(run.cases)),
            failures=str(run.count("failed")),
            errors=str(run.count("error") + run.count("unjudged")),
            skipped=str(run.count("not run")),
            time=f"{sum(case.seconds for case in run.cases):.3f}",
        )
        _add_properties(suite, run.spent, run.judge_spent)
        for case in run.cases:
            _add(suite, run, case)
    ET.indent(suites)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"
    )


def _add(suite: ET.Element, run: RunResult, case: CaseResult) -> None:
    element = ET.SubElement(
        suite,
        "testcase",
        classname=_text(f"{run.agent} {run.variant}".strip()),
        name=_text(case.name),
        time=f"{case.seconds:.3f}",
    )
    _add_properties(element, case.spent, case.judge_spent)
    reasons = "\n".join(why_not(case))
    if case.verdict == "failed":
        ET.SubElement(element, "failure", message=_first(reasons)).text = _text(reasons)
    elif case.verdict in ("error", "unjudged"):
        ET.SubElement(element, "error", message=_first(reasons)).text = _text(reasons)
    elif case.verdict == "not run":
        ET.SubElement(element, "skipped", message=_text(run.stopped or "not run"))
    answers = [turn.turn.text for turn in case.turns if turn.turn is not None]
    ET.SubElement(element, "system-out").text = _text("\n\n".join(answers))


def _add_properties(
    element: ET.Element, spent: Sequence[MeterRow], judge_spent: Sequence[MeterRow]
) -> None:
    """Say what was spent; a cost that nobody knows is empty."""
    properties = ET.SubElement(element, "properties")
    for prefix, rows in (("", spent), ("judge_", judge_spent)):
        if prefix and not rows:
            continue  # nothing was judged by a model
        told = spent_as_json(rows)
        cost = "" if told["cost"] is None else f"{told['cost']:.6f}"
        counts = {name: str(told[name]) for name in ("calls", "input_tokens", "output_tokens")}
        for name, value in {**counts, "cost": cost}.items():
            ET.SubElement(properties, "property", name=f"{prefix}{name}", value=value)


def _first(reasons: str) -> str:
    return _text(reasons.split("\n", 1)[0])


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
