"""What earlier runs said: one JSON file a run, beside the agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holodeck.errors import EvaluationError
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.test_runner.scores import RunResult, run_as_json
from holodeck.lib.whole_text import write_whole

__all__ = ["RUNS_FOLDER", "keep_run"]

RUNS_FOLDER = Path(".holodeck") / "runs"


def keep_run(runs: Sequence[RunResult], base_dir: Path) -> Path:
    """Write what became of the cases and return the file.

    Raises:
        EvaluationError: The folder cannot be written to.
    """
    now = datetime.now(UTC)
    document: dict[str, Any] = {  # Any: JSON
        "ran_at": now.isoformat(timespec="seconds"),
        "runs": [run_as_json(run) for run in runs],
    }
    folder = base_dir / RUNS_FOLDER
    file = folder / f"{now:%Y%m%dT%H%M%S%f}Z.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The folder may lie inside a source: it is not one of its documents.
        (folder / OWN_FOLDER_MARK).touch()
        write_whole(file, json.dumps(document, ensure_ascii=False, indent=2))
    except OSError as error:
        raise EvaluationError(
            f"the run cannot be kept in {folder} ({error}): free that path, or use --no-history"
        ) from error
    return file
