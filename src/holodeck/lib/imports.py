"""Classes named in tables as ``module:Class``, imported when they are chosen."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["load_object"]


def load_object(name: str) -> Any:  # Any: the table's reader knows the type
    """Return the object that ``name`` (``package.module:Name``) stands for."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
