"""The table of engines: a new one is a file, a row and a word in ``VectorstoreTool.engine``."""

from __future__ import annotations

from collections.abc import Mapping

from holodeck.lib.contracts import SearchEngine
from holodeck.lib.imports import load_object

__all__ = ["ENGINES", "ENGINE_EXTRAS", "engine_class"]

ENGINES: Mapping[str, str] = {
    "default": "holodeck.lib.vectorstore.engine:VectorEngine",
    "graphrag": "holodeck.lib.graphrag.engine:GraphRAGEngine",
}
"""Engine → ``module:Class``, imported when it is chosen."""

ENGINE_EXTRAS: Mapping[str, str] = {"graphrag": "graphrag"}
"""Engine → the extra that it needs; an engine without a row needs none."""


def engine_class(name: str) -> type[SearchEngine]:
    """Return the class of an engine."""
    found: type[SearchEngine] = load_object(ENGINES[name])
    return found
