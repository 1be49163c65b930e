"""Which settings an index was shaped by, and which of them changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

__all__ = ["as_settings", "changed_settings", "config_hash"]


def as_settings(values: Mapping[str, object]) -> dict[str, str]:
    """Return the values as JSON texts, by name."""
    return {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}


def config_hash(settings: Mapping[str, str]) -> str:
    """Return the SHA-256 over the settings, as hex."""
    content = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def changed_settings(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return each difference as ``name: old → new``."""
    names = sorted({*old, *new})
    return [
        f"{name}: {old.get(name, 'unset')} → {new.get(name, 'unset')}"
        for name in names
        if old.get(name) != new.get(name)
    ]
