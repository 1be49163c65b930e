"""The one error tree, with the exit code that the command line gives each branch.

HolodeckError                      3   anything of ours
├── ConfigError                    2   YAML, settings, paths (also a ValueError)
│   ├── MissingExtraError          2   an optional package is not installed (also an ImportError)
│   ├── MissingKeyError            2   no API key (also an IndexingError)
│   └── SourceNotFoundError        2   the documents' folder is not there (also a FileNotFoundError)
├── ReadError                      3   one document could not be read (also an OSError)
├── IndexingError                  3   an index could not be built
│   ├── IndexBusyError             3   another process is building it
│   └── CostLimitError             5   stopped at the cost cap; the next run goes on
├── SearchError                    3   a question could not be answered
│   └── EmptyQueryError            3   there was no question (also a ValueError)
├── NotInitializedError            3   search before initialize (also a RuntimeError)
├── TableNotFoundError             3   a table of the index is not there (also a FileNotFoundError)
├── ProviderError                  3   a model's server refused or failed
│   ├── AuthenticationError        3   wrong key; never retried
│   ├── RateLimitError             3   429 until the retry budget was used up
│   ├── ProviderTimeoutError       3   no answer in time (also a TimeoutError)
│   ├── ContentFilterError         3   the server would not answer this text
│   └── ContextLengthError         3   the request is longer than the model takes
└── EvaluationError                4   a test could not be judged

A message answers three questions: what failed, why, what to do next.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

__all__ = [
    "AuthenticationError",
    "ConfigError",
    "ContentFilterError",
    "ContextLengthError",
    "CostLimitError",
    "EmptyQueryError",
    "EvaluationError",
    "HolodeckError",
    "IndexBusyError",
    "IndexingError",
    "MissingExtraError",
    "MissingKeyError",
    "NotInitializedError",
    "ProviderError",
    "ProviderTimeoutError",
    "RateLimitError",
    "ReadError",
    "SearchError",
    "SourceNotFoundError",
    "TableNotFoundError",
]


class HolodeckError(Exception):
    """Root of every error that HoloDeck raises on purpose."""

    exit_code: ClassVar[int] = 3


class ConfigError(HolodeckError, ValueError):
    """The configuration cannot be used as it is written.

    Args:
        message: What failed, why, and the mend.
        file: The YAML file that says it.
        line: 1-based line in that file.
        field: Dotted path of the setting, as in ``tools[0].graphrag.chunk_size``.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        message: str,
        *,
        file: Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.field = field
        super().__init__(message)

    def __str__(self) -> str:
        place = "" if self.file is None else str(self.file)
        if place and self.line is not None:
            place += f":{self.line}"
        return ": ".join(part for part in (place, self.field or "", self.message) if part)


class MissingExtraError(ConfigError, ImportError):
    """An optional package is needed and not installed; the message names the extra."""


class SourceNotFoundError(ConfigError, FileNotFoundError):
    """The folder or file of documents does not exist."""


class ReadError(HolodeckError, OSError):
    """One document could not be read; the message is the reason that a summary lists."""


class IndexingError(HolodeckError):
    """An index could not be built; the old one, if any, still answers."""


class MissingKeyError(ConfigError, IndexingError):
    """No API key was given for a provider that needs one."""


class IndexBusyError(IndexingError):
    """Another process holds the builder's lock of this index."""


class CostLimitError(IndexingError):
    """The cost cap was reached; everything paid for is kept and the next run goes on."""

    exit_code: ClassVar[int] = 5


class SearchError(HolodeckError):
    """A question could not be answered, as opposed to having no answer."""


class EmptyQueryError(SearchError, ValueError):
    """The question was empty or blank."""


class NotInitializedError(HolodeckError, RuntimeError):
    """A search was asked of a tool or engine before ``initialize()``."""


class TableNotFoundError(HolodeckError, FileNotFoundError):
    """A table of the index is missing or cannot be read.

    Attributes:
        damage: What is wrong, without the mend.
    """

    damage: str = ""

    @classmethod
    def of(cls, damage: str) -> Self:
        """Return the error of an index that the next build mends."""
        error = cls(f"{damage}: build the index again with 'holodeck index'")
        error.damage = damage
        return error


class ProviderError(HolodeckError):
    """A model's server refused, failed or could not be reached.

    Args:
        message: What failed, why, and the mend.
        retryable: Whether the same call may succeed later.
        status: The HTTP status, if there was a reply.
        retry_after: Seconds that the server asked to wait before the next try.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after


class AuthenticationError(ProviderError):
    """The server does not accept the key."""


class RateLimitError(ProviderError):
    """The server kept answering 429 until the retry budget was used up."""


class ProviderTimeoutError(ProviderError, TimeoutError):
    """The server did not answer within the configured time."""


class ContentFilterError(ProviderError):
    """The server refused this text; asking again would be refused again."""


class ContextLengthError(ProviderError):
    """The request is longer than the model's context; only a shorter one can succeed."""


class EvaluationError(HolodeckError):
    """A test case could not be judged."""

    exit_code: ClassVar[int] = 4
