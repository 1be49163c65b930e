"""What counts as a question."""

from __future__ import annotations

import pytest

from holodeck.errors import EmptyQueryError
from holodeck.lib.questions import LONGEST_QUESTION, accept_question


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u3000"])
def test_blanks_are_no_question(query: str) -> None:
    """Who asks nothing is told so, whatever the blanks."""
    with pytest.raises(EmptyQueryError, match="the question is empty"):
        accept_question(query)


def test_a_long_question_is_cut_with_a_note() -> None:
    """Up to the limit nothing is cut; beyond it, the cut is said."""
    assert accept_question(f" {'x' * LONGEST_QUESTION} ") == ("x" * LONGEST_QUESTION, ())
    assert accept_question("x" * (LONGEST_QUESTION + 1)) == (
        "x" * LONGEST_QUESTION,
        (f"the question was cut to its first {LONGEST_QUESTION} characters",),
    )


def test_half_a_character_is_replaced() -> None:
    """A lone surrogate, which nothing can store or send, never reaches a model."""
    assert accept_question("a\ud800b") == ("a?b", ())
