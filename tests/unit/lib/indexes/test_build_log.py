"""The logs of builds: one each, and not too many of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holodeck.lib.contracts import Progress
from holodeck.lib.indexes.build_log import KEPT_LOGS, BuildLog

pytestmark = pytest.mark.unit


def test_the_last_logs_are_kept(tmp_path: Path) -> None:
    """A new build's log is one of them; a file of the user's is none of ours."""
    (tmp_path / "mine.log").touch()
    for number in range(KEPT_LOGS + 3):
        BuildLog(tmp_path, f"{number:06d}").note("begun")

    kept = [f"build-{number:06d}.log" for number in range(3, KEPT_LOGS + 3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*kept, "mine.log"]


def test_each_step_is_a_line(tmp_path: Path) -> None:
    """It begins once, whatever is told of it later; text of any kind can be written."""
    log = BuildLog(tmp_path, "000001")
    for done in range(3):
        log.note_step(Progress(step="extract", done=done, total=1200))
    log.note_step(Progress(step="publish"))
    log.note("문서 \udcff")

    lines = log.path.read_text(encoding="utf-8").splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "extract (1,200)",
        "publish",
        "문서 \\udcff",
    ]
