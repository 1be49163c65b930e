"""HoloDeck: declare an agent in YAML and have it answer from your own documents.

The names below are the public API; each is imported when it is first used, so that
``import holodeck`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from holodeck.config.loader import load_agent
    from holodeck.errors import ConfigError, HolodeckError, IndexingError, SearchError
    from holodeck.lib.graphrag.engine import GraphRAGEngine
    from holodeck.lib.results import SearchResult, Source
    from holodeck.lib.test_runner.agent_factory import create_agent
    from holodeck.models.agent import AgentConfig
    from holodeck.models.tool import GraphRAGConfig, GraphRAGModelConfig, VectorstoreTool
    from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = [
    "AgentConfig",
    "ConfigError",
    "GraphRAGConfig",
    "GraphRAGEngine",
    "GraphRAGModelConfig",
    "HolodeckError",
    "IndexingError",
    "SearchError",
    "SearchResult",
    "Source",
    "VectorStoreTool",
    "VectorstoreTool",
    "__version__",
    "create_agent",
    "load_agent",
]

_PLACES = {
    "AgentConfig": "holodeck.models.agent:AgentConfig",
    "ConfigError": "holodeck.errors:ConfigError",
    "GraphRAGConfig": "holodeck.models.tool:GraphRAGConfig",
    "GraphRAGEngine": "holodeck.lib.graphrag.engine:GraphRAGEngine",
    "GraphRAGModelConfig": "holodeck.models.tool:GraphRAGModelConfig",
    "HolodeckError": "holodeck.errors:HolodeckError",
    "IndexingError": "holodeck.errors:IndexingError",
    "SearchError": "holodeck.errors:SearchError",
    "SearchResult": "holodeck.lib.results:SearchResult",
    "Source": "holodeck.lib.results:Source",
    "VectorStoreTool": "holodeck.tools.vectorstore_tool:VectorStoreTool",
    "VectorstoreTool": "holodeck.models.tool:VectorstoreTool",
    "create_agent": "holodeck.lib.test_runner.agent_factory:create_agent",
    "load_agent": "holodeck.config.loader:load_agent",
}


def __getattr__(name: str) -> Any:  # Any: one of the names above
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from holodeck.lib.imports import load_object

    return load_object(_PLACES[name])


def __dir__() -> list[str]:
    return sorted(__all__)
