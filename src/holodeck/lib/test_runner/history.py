"""What earlier runs said: one JSON file a run, beside the agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from holodeck.errors import ConfigError, EvaluationError
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.test_runner.scores import RunResult, runs_as_json
from holodeck.lib.whole_text import write_whole

__all__ = ["RUNS_FOLDER", "keep_run", "make_runs_folder"]

RUNS_FOLDER = Path(".holodeck") / "runs"


def make_runs_folder(base_dir: Path) -> None:
    """Make the folder that runs are kept in, where there is none.

    Raises:
        ConfigError: Nothing can be written there.
    """
    folder = base_dir / RUNS_FOLDER
    try:
        _make(folder)
    except OSError as error:
        raise ConfigError(_cannot_keep(folder, error)) from error


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # The folder may lie inside a source: it is not one of its documents.
    (folder / OWN_FOLDER_MARK).touch()


def _cannot_keep(folder: Path, error: OSError) -> str:
    return f"the run cannot be kept in {folder} ({error}): free that path, or use --no-history"


def keep_run(runs: Sequence[RunResult], base_dir: Path) -> Path:
    """Write what became of the cases and return the file.

    Raises:
        EvaluationError: It cannot be written.
    """
    now = datetime.now(UTC)
    document = {"ran_at": now.isoformat(timespec="seconds"), **runs_as_json(runs)}
    folder = base_dir / RUNS_FOLDER
    file = folder / f"{now:%Y%m%dT%H%M%S%f}Z.json"
    try:
        _make(folder)
        write_whole(file, json.dumps(document, ensure_ascii=False, indent=2))
    except OSError as error:
        raise EvaluationError(_cannot_keep(folder, error)) from error
    return file
