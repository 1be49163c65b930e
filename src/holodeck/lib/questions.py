"""What a question must be before an engine or a model looks at it."""

from __future__ import annotations

from unicodedata import category

from holodeck.errors import EmptyQueryError, SearchError
from holodeck.lib.whole_text import well_formed

__all__ = ["LONGEST_QUESTION", "MOST_TOKENS", "accept_question", "check_question", "refuse_blank"]

LONGEST_QUESTION = 8_000
"""Characters of a question that are looked at; the rest is cut with a note."""
MOST_TOKENS = 8_000
"""Of a question: what embedding models take at once."""
_UNSEEN = "Cf"
"""Unicode's category of marks without width."""


def accept_question(query: str) -> tuple[str, tuple[str, ...]]:
    """Return the question without blanks around it, cut to a length, and notes on what was cut.

    Raises:
        EmptyQueryError: Also a ``ValueError``: there is no question.
    """
    refuse_blank(query)
    # A lone surrogate is no text to a model's server, nor to the store.
    question = query.encode("utf-8", "replace").decode("utf-8").strip()
    short, limit = question[:LONGEST_QUESTION], f"{LONGEST_QUESTION} characters"
    if len(short.encode()) > MOST_TOKENS:  # else it has fewer tokens: a token is a byte at least
        from holodeck.lib.tokens import cut_to_tokens

        few = cut_to_tokens(short, MOST_TOKENS)
        if few != short:
            short, limit = few, f"{MOST_TOKENS} tokens"
    return short, () if short == question else (f"the question was cut to its first {limit}",)


def check_question(question: str) -> None:
    """Refuse what no model can be asked.

    Raises:
        EmptyQueryError: There is no question.
        SearchError: It holds bytes that are no text.
    """
    refuse_blank(question)
    if well_formed(question) != question:
        raise SearchError("the input is not UTF-8: send the question in UTF-8")


def refuse_blank(question: object) -> None:
    """Refuse what asks nothing.

    Raises:
        EmptyQueryError: It is no text, or nothing of it can be seen.
    """
    if not isinstance(question, str):
        raise EmptyQueryError(
            f"the question is no text but {type(question).__name__}: ask something in words"
        )
    if all(sign.isspace() or category(sign) == _UNSEEN for sign in question):
        raise EmptyQueryError("the question is empty: ask something about the documents")
