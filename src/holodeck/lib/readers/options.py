"""How a source is read."""

from __future__ import annotations

from dataclasses import dataclass

from holodeck.errors import ConfigError
from holodeck.lib.readers.structure import Structure
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
        delimiter: What separates the cells of a table; ``None``: it is found out.
        record_path: Where the records of a JSON file are, as ``a.b``; ``None``: at its top.
        record_prefix: Put before the name of every field of such a record.
        meta_prefix: Put before the names of what stands around them.
        structure: Which fields are text and which come with it; ``None``: all are text.

    Raises:
        ConfigError: ``encoding_fallback`` is no encoding of text.
    """

    encoding_fallback: str | None = "cp1252"
    file_timeout: float = 60.0
    strict: bool = False
    allow_external_links: bool = False
    delimiter: str | None = None
    record_path: str | None = None
    record_prefix: str = ""
    meta_prefix: str = ""
    structure: Structure | None = None

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
        delimiter=tool.delimiter,
        record_path=tool.record_path,
        record_prefix=tool.record_prefix or "",
        meta_prefix=tool.meta_prefix or "",
        structure=_structure(tool),
    )


def _structure(tool: VectorstoreTool) -> Structure | None:
    if tool.vector_field is None:
        return None
    named = tool.vector_field
    return Structure(
        vector_fields=(named,) if isinstance(named, str) else named,
        separator="\n" if tool.field_separator is None else tool.field_separator,
        id_field=tool.id_field,
        meta_fields=tool.meta_fields or (),
    )
