"""How far a build is, where there is no terminal."""

from __future__ import annotations

import pytest

from holodeck.cli.progress import headline, show_progress
from holodeck.cli.session import Session
from holodeck.lib.contracts import Progress, Spent, Usage


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


def test_a_long_step_says_how_far_it_is_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """A few lines for a thousand items, with what was spent by then."""
    with show_progress(Session()) as listen:
        for done in range(1001):
            usage = Usage(input_tokens=10 * done, output_tokens=done)
            spent = Spent(calls=done, usage=usage, cost=done / 1000)
            listen(Progress(step="extract", done=done, total=1000, spent=spent))

    assert capsys.readouterr().err.splitlines() == [
        "extract (1000)",
        "extract 200/1000: 200 calls, 2,000 tokens in, 200 out, $0.2000",
        "extract 400/1000: 400 calls, 4,000 tokens in, 400 out, $0.4000",
        "extract 600/1000: 600 calls, 6,000 tokens in, 600 out, $0.6000",
        "extract 800/1000: 800 calls, 8,000 tokens in, 800 out, $0.8000",
        "extract 1000/1000: 1,000 calls, 10,000 tokens in, 1,000 out, $1.00",
    ]


def test_the_headline_says_what_there_is_and_what_was_spent() -> None:
    """Documents and chunks as soon as they are counted, calls, tokens and money as they come."""
    spent = Spent(calls=1, usage=Usage(input_tokens=5, output_tokens=2), unpriced=1)

    assert headline({}, Progress(step="read")) == ""
    assert headline({"read": 1200, "chunk": 7}, Progress(step="extract", spent=spent)) == (
        "1,200 documents, 7 chunks, 1 call, 5 tokens in, 2 out, cost unknown"
    )
