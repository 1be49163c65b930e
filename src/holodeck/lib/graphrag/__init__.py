"""The graph engine: a knowledge graph of the documents, built with Microsoft's GraphRAG library.

Importing this package imports nothing heavy; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from holodeck.lib.extras import require_extra
from holodeck.lib.imports import load_object

if TYPE_CHECKING:
    from holodeck.lib.graphrag.config import build_graphrag_config
    from holodeck.lib.graphrag.engine import GraphRAGEngine
    from holodeck.lib.graphrag.indexer import GraphRAGIndexer, IndexingError
    from holodeck.lib.graphrag.search import (
        BaseSearchEngine,
        GlobalSearchEngine,
        LocalSearchEngine,
        SearchResult,
        create_search_engine,
    )
    from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata

__all__ = [
    "GRAPHRAG_AVAILABLE",
    "BaseSearchEngine",
    "GlobalSearchEngine",
    "GraphRAGEngine",
    "GraphRAGIndexer",
    "GraphRAGStorage",
    "IndexMetadata",
    "IndexingError",
    "LocalSearchEngine",
    "SearchResult",
    "build_graphrag_config",
    "create_search_engine",
    "require_graphrag",
]

GRAPHRAG_AVAILABLE = find_spec("graphrag") is not None
"""Whether the library is installed; it is not imported to find out."""

_PLACES = {
    "BaseSearchEngine": "search",
    "GlobalSearchEngine": "search",
    "GraphRAGEngine": "engine",
    "GraphRAGIndexer": "indexer",
    "GraphRAGStorage": "storage",
    "IndexMetadata": "storage",
    "IndexingError": "indexer",
    "LocalSearchEngine": "search",
    "SearchResult": "search",
    "build_graphrag_config": "config",
    "create_search_engine": "search",
}


def require_graphrag() -> None:
    """Raise unless the library is installed.

    Raises:
        MissingExtraError: Also an ``ImportError``; names the extra.
    """
    require_extra("graphrag", "engine: graphrag")


def __getattr__(name: str) -> Any:  # Any: one of the names above
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_object(f"{__name__}.{_PLACES[name]}:{name}")
