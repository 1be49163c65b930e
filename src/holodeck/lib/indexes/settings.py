"""Which settings an index was shaped by, and which of them changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

__all__ = [
    "as_settings",
    "changed_settings",
    "config_hash",
    "differ_by_release_alone",
    "differ_in_texts_alone",
]

_SEEN_IN_TEXTS = frozenset(
    {
        *("encoding_fallback", "delimiter", "record_path", "record_prefix", "meta_prefix"),
        *("vector_field", "field_separator", "id_field", "meta_fields"),
        *("chunk_ends", "chunk_size", "chunk_overlap"),
        *("graphrag.chunk_size", "graphrag.chunk_overlap"),
        *("tokenizer", "readers", "chunking"),
    }
)
"""Settings that shape chunks and where they stand, and nothing else."""


_OF_THE_RELEASE = ("tokenizer", "readers", "chunking", "store", "thinking", "step ")
"""How names begin that no file sets: what our own steps are known by."""


def as_settings(values: Mapping[str, object]) -> dict[str, str]:
    """Return the values as JSON texts, by name."""
    return {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}


def config_hash(settings: Mapping[str, str]) -> str:
    """Return the SHA-256 over the settings, as hex."""
    content = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def changed_settings(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return each difference as ``name: old → new``."""
    return [
        f"{name}: {old.get(name, 'unset')} → {new.get(name, 'unset')}"
        for name in _differing(old, new)
    ]


def differ_in_texts_alone(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Tell whether indexes of the same chunks are the same by either settings."""
    return _SEEN_IN_TEXTS.issuperset(_differing(old, new))


def differ_by_release_alone(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Tell whether nothing differs that anybody has set."""
    return all(name.startswith(_OF_THE_RELEASE) for name in _differing(old, new))


def _differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
