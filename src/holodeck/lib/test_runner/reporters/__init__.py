"""How a run is written down: one row a format, each a function of the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holodeck.lib.imports import load_object
from holodeck.lib.test_runner.scores import RunResult

__all__ = ["REPORTERS", "write_report"]

_HERE = "holodeck.lib.test_runner.reporters"

REPORTERS: dict[str, str] = {
    "json": f"{_HERE}.as_json:report",
    "markdown": f"{_HERE}.as_markdown:report",
    "junit": f"{_HERE}.as_junit:report",
}
"""Format → its function, which returns the text of the report."""


def write_report(form: str, runs: Sequence[RunResult]) -> str:
    """Return the report of one run, or of several that are compared."""
    function: Callable[[Sequence[RunResult]], str] = load_object(REPORTERS[form])
    return function(runs)
