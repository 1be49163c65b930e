"""A run as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from holodeck.lib.test_runner.scores import RunResult, runs_as_json

__all__ = ["report"]


def report(runs: Sequence[RunResult]) -> str:
    """Return ``{"runs": [...]}``."""
    return json.dumps(runs_as_json(runs), ensure_ascii=False, indent=2) + "\n"
