"""Text on a terminal is broken between words."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from holodeck.cli.fit import Fitter, fitted, width_of

WIDTH = 20
TEXTS = st.text(st.sampled_from("ab é\n-|`1.汤姆🚀\t"), max_size=80)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three four five", "one two three four\nfive"),
        ("exactly twenty cells", "exactly twenty cells"),
        ("  four files, six documents", "  four files, six\n    documents"),
        ("- four files, six documents", "- four files, six\n  documents"),
        ("10. four files, six documents", "10. four files, six\n    documents"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("a/path/that/is/longer/than/a/line", "a/path/that/is/longer/than/a/line"),
        ("in a/path/that/is/longer/than/a/line", "in a/path/that/is/longer/than/a/line"),
        ("威廉汤姆孙发明了镜式检流计", "威廉汤姆孙发明了镜式\n检流计"),
        ("| a table | with long rows |", "| a table | with long rows |"),
        ("```\ncode that goes on and on\n```", "```\ncode that goes on and on\n```"),
        ("```\na\n```\none two three four five", "```\na\n```\none two three four\nfive"),
    ],
)
def test_words_stay_whole(text: str, shown: str) -> None:
    """Lines go on under their own text; what no line holds, code and tables are left alone."""
    assert fitted(text, WIDTH) == shown


@given(TEXTS, st.lists(st.integers(min_value=0, max_value=80), max_size=5))
def test_pieces_come_to_the_same(text: str, cuts: list[int]) -> None:
    """A text that comes in pieces, cut anywhere, is broken like the whole one."""
    fitter = Fitter(WIDTH)
    places = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]

    assert "".join(map(fitter.feed, pieces)) + fitter.flush() == fitted(text, WIDTH)


@given(st.lists(st.text("abc汤", min_size=1, max_size=9), max_size=12))
def test_no_line_is_too_long_and_nothing_is_lost(words: list[str]) -> None:
    """Words that fit a line make lines that fit; all of them are there, in order."""
    shown = fitted(" ".join(words), WIDTH)

    assert all(cell_len(line) <= WIDTH for line in shown.splitlines())
    assert "".join(shown.split()) == "".join(words)


def test_what_is_no_terminal_has_no_width() -> None:
    """A file and a stream in memory are never broken."""
    assert width_of(io.StringIO()) is None
