"""Which refusals of a model's server are of every call alike, and which of one text."""

from __future__ import annotations

from holodeck.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    ProviderError,
    RateLimitError,
)

__all__ = ["is_no_answer", "is_of_all"]

_OF_ONE_TEXT = (400, 413, 422)


def is_of_all(error: ProviderError) -> bool:
    """Tell whether the next call would fail alike, whatever it asks.

    A wrong key, a model that is not there, a quota that is used up, settings that the server
    refuses.
    """
    if isinstance(error, AuthenticationError):
        return True
    if isinstance(error, ContentFilterError | ContextLengthError) or error.retryable:
        return False
    if isinstance(error, RateLimitError):
        return True
    # What the server will not do for one text; anything else it would not do for the next either.
    return error.status not in _OF_ONE_TEXT and not is_no_answer(error)


def is_no_answer(error: ProviderError) -> bool:
    """Tell whether a server answered, and not as a model's server does."""
    return type(error) is ProviderError and error.status is None
