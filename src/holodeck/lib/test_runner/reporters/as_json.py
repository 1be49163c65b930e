"""A run as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from holodeck.lib.test_runner.scores import RunResult, run_as_json

__all__ = ["report"]


def report(runs: Sequence[RunResult]) -> str:
    """Return ``{"runs": [...]}``."""
    document = {"runs": [run_as_json(run) for run in runs]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
