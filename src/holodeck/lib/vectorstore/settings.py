"""Which settings shape an index of the default engine."""

from __future__ import annotations

from collections.abc import Mapping

from holodeck.lib.chunking import CHUNKING_VERSION
from holodeck.lib.indexes.settings import as_settings
from holodeck.lib.readers import READERS_VERSION
from holodeck.lib.resources import ResolvedTool
from holodeck.lib.tokens import ENCODING_NAME
from holodeck.lib.vectorstore.table import TABLE_VERSION

__all__ = ["EMBEDDING_SETTINGS", "embedding_key", "shaping_settings"]

EMBEDDING_SETTINGS = ("embedding_model", "embedding_dimensions")
"""The settings that say which model embeds."""


def shaping_settings(resolved: ResolvedTool) -> dict[str, str]:
    """Return every setting and version that shapes the index, by its YAML name.

    Settings of the search (mode, top_k, min_similarity_score) are not among them.
    """
    tool = resolved.tool
    return as_settings(
        {
            "encoding_fallback": tool.encoding_fallback,
            "vector_field": tool.vector_field,
            "field_separator": tool.field_separator,
            "id_field": tool.id_field,
            "meta_fields": tool.meta_fields,
            "delimiter": tool.delimiter,
            "record_path": tool.record_path,
            "record_prefix": tool.record_prefix,
            "meta_prefix": tool.meta_prefix,
            "chunk_ends": tool.chunk_ends,
            "chunk_size": tool.chunk_size,
            "chunk_overlap": tool.chunk_overlap,
            "embedding_model": resolved.embedding_id,
            "embedding_dimensions": tool.embedding_dimensions,
            "tokenizer": ENCODING_NAME,
            "readers": READERS_VERSION,
            "chunking": CHUNKING_VERSION,
            "store": TABLE_VERSION,
        }
    )


def embedding_key(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return what two indexes share whose vectors may stand side by side."""
    return tuple(settings.get(name, "") for name in EMBEDDING_SETTINGS)
