"""How a source is read."""

from __future__ import annotations

from dataclasses import dataclass

from holodeck.errors import ConfigError
from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import VectorstoreTool

__all__ = ["ReadOptions", "read_options"]


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a source is read.

    Attributes:
        encoding_fallback: Encoding of text that is neither UTF-8 nor marked; None skips it.
        file_timeout: Seconds for one file; a slower one is skipped.
        strict: A file that is skipped is an error.
        allow_external_links: Follow links that leave the source.

    Raises:
        ConfigError: ``encoding_fallback`` is no encoding of text.
    """

    encoding_fallback: str | None = "cp1252"
    file_timeout: float = 60.0
    strict: bool = False
    allow_external_links: bool = False

    def __post_init__(self) -> None:
        if self.encoding_fallback is None:
            return
        try:
            b"".decode(self.encoding_fallback)
            known = bool("a".encode(self.encoding_fallback))
        except (LookupError, ValueError, UnicodeError):
            known = False
        if not known:
            raise ConfigError(
                f"encoding_fallback {self.encoding_fallback!r} is no encoding of text that Python "
                "knows: name one, as cp1252 or shift_jis, or null to skip such files"
            )


def read_options(tool: VectorstoreTool, execution: ExecutionConfig | None = None) -> ReadOptions:
    """Return how the documents of a tool are read."""
    return ReadOptions(
        encoding_fallback=tool.encoding_fallback,
        file_timeout=(execution or ExecutionConfig()).file_timeout,
        strict=tool.strict,
        allow_external_links=tool.allow_external_links,
    )
