"""What counts as a question."""

from __future__ import annotations

from typing import Any

import pytest

from holodeck.errors import EmptyQueryError
from holodeck.lib.questions import LONGEST_QUESTION, MOST_TOKENS, accept_question, check_question
from holodeck.lib.tokens import count_tokens


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u3000", "\u200b\ufeff", "\u2060 "])
def test_blanks_are_no_question(query: str) -> None:
    """Who asks nothing is told so, whatever the blanks."""
    with pytest.raises(EmptyQueryError, match="the question is empty"):
        accept_question(query)


@pytest.mark.parametrize("query", [None, 5, b"Who?", ["Who?"]])
def test_what_is_no_text_is_no_question(query: Any) -> None:
    """A program that passes something else is told what it passed."""
    with pytest.raises(EmptyQueryError, match=f"no text but {type(query).__name__}"):
        accept_question(query)
    with pytest.raises(ValueError, match="no text"):
        check_question(query)


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


@pytest.mark.parametrize("sign", ["\U0001f9ff", "ཀ"])
def test_a_question_of_many_tokens_a_character_is_cut_by_them(sign: str) -> None:
    """Few characters may be more than an embedding model takes."""
    text, notes = accept_question(sign * LONGEST_QUESTION)

    assert notes == (f"the question was cut to its first {MOST_TOKENS} tokens",)
    assert count_tokens(text) <= MOST_TOKENS
    assert set(text) == {sign}
