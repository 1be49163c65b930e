"""What a question must be before an engine looks at it."""

from __future__ import annotations

from holodeck.errors import EmptyQueryError

__all__ = ["LONGEST_QUESTION", "accept_question"]

LONGEST_QUESTION = 8_000
"""Characters of a question that are looked at; the rest is cut with a note."""


def accept_question(query: str) -> tuple[str, tuple[str, ...]]:
    """Return the question without blanks around it, cut to a length, and notes on what was cut.

    Raises:
        EmptyQueryError: Also a ``ValueError``: there is no question.
    """
    # A lone surrogate is no text to a model's server, nor to the store.
    question = query.encode("utf-8", "replace").decode("utf-8").strip()
    if not question:
        raise EmptyQueryError("the question is empty: ask something about the documents")
    if len(question) <= LONGEST_QUESTION:
        return question, ()
    note = f"the question was cut to its first {LONGEST_QUESTION} characters"
    return question[:LONGEST_QUESTION], (note,)
