"""How far a build is, where there is no terminal."""

from __future__ import annotations

import pytest

from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session
from holodeck.lib.contracts import Progress


def test_a_step_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A log gets a line when a step begins, not one for each item."""
    with show_progress(Session()) as listen:
        for done in range(3):
            listen(Progress(step="extract", done=done, total=3))
        listen(Progress(step="publish"))

    assert capsys.readouterr() == ("", "extract (3)\npublish\n")


def test_a_quiet_session_shows_none(capsys: pytest.CaptureFixture[str]) -> None:
    """-q leaves only warnings and errors."""
    with show_progress(Session(verbosity="quiet")) as listen:
        listen(Progress(step="extract", done=0, total=3))

    assert capsys.readouterr() == ("", "")
