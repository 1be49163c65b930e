"""Every public name of the design documents imports from where they put it."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest

from holodeck.lib.imports import load_object
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

pytestmark = pytest.mark.unit

NAMES = (
    "holodeck.lib.graphrag:GRAPHRAG_AVAILABLE",
    "holodeck.lib.graphrag:require_graphrag",
    "holodeck.lib.graphrag:GraphRAGEngine",
    "holodeck.lib.graphrag:GraphRAGStorage",
    "holodeck.lib.graphrag:GraphRAGIndexer",
    "holodeck.lib.graphrag:LocalSearchEngine",
    "holodeck.lib.graphrag:GlobalSearchEngine",
    "holodeck.lib.graphrag:build_graphrag_config",
    "holodeck.lib.graphrag.config:build_graphrag_config",
    "holodeck.lib.graphrag.config:DEFAULT_ENTITY_TYPES",
    "holodeck.lib.graphrag.storage:IndexMetadata",
    "holodeck.lib.graphrag.storage:GraphRAGStorage",
    "holodeck.lib.graphrag.indexer:IndexingError",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks",
    "holodeck.lib.graphrag.indexer:GraphRAGIndexer",
    "holodeck.lib.graphrag.search:SearchResult",
    "holodeck.lib.graphrag.search:SearchError",
    "holodeck.lib.graphrag.search:BaseSearchEngine",
    "holodeck.lib.graphrag.search:LocalSearchEngine",
    "holodeck.lib.graphrag.search:GlobalSearchEngine",
    "holodeck.lib.graphrag.search:create_search_engine",
    "holodeck.lib.graphrag.engine:GraphRAGEngine",
    "holodeck.models.tool:VectorstoreTool",
    "holodeck.models.tool:GraphRAGConfig",
    "holodeck.models.tool:GraphRAGModelConfig",
    "holodeck.models.config:ExecutionConfig",
    "holodeck.tools.vectorstore_tool:VectorStoreTool",
)
MEMBERS = {
    "holodeck.lib.graphrag.storage:GraphRAGStorage": (
        "REQUIRED_TABLES storage_dir output_dir cache_dir logs_dir metadata_path "
        "ensure_directories has_valid_index get_metadata save_metadata compute_source_hash "
        "needs_reindex clear_index load_table"
    ),
    "holodeck.lib.graphrag.storage:IndexMetadata": "to_dict from_dict",
    "holodeck.lib.graphrag.indexer:GraphRAGIndexer": "build_index",
    "holodeck.lib.graphrag.engine:GraphRAGEngine": (
        "is_initialized index_stats initialize search close"
    ),
    "holodeck.lib.graphrag.search:BaseSearchEngine": "initialize search",
    "holodeck.tools.vectorstore_tool:VectorStoreTool": "initialize search is_initialized",
}
SIGNATURES = {
    "holodeck.lib.graphrag.engine:GraphRAGEngine": ["config", "base_dir", "execution_config"],
    "holodeck.lib.graphrag.storage:GraphRAGStorage": ["tool_config", "base_dir"],
    "holodeck.lib.graphrag.indexer:GraphRAGIndexer": ["tool_config", "storage"],
    "holodeck.lib.graphrag.search:LocalSearchEngine": ["tool_config", "storage"],
    "holodeck.lib.graphrag.config:build_graphrag_config": [
        "tool_config",
        "storage_dir",
        "input_dir",
    ],
}
"""What may be given by position, in order; everything more is keyword-only."""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_where_the_documents_put_it(name: str) -> None:
    """Importing it works and imports nothing heavy by itself."""
    assert load_object(name) is not None


@pytest.mark.parametrize("name", MEMBERS)
def test_a_class_has_the_members_of_the_documents(name: str) -> None:
    """Methods and properties keep their names."""
    found = load_object(name)

    assert [member for member in MEMBERS[name].split() if not hasattr(found, member)] == []


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_signatures_of_the_documents_work_unchanged(name: str) -> None:
    """What was added is keyword-only."""
    parameters = inspect.signature(load_object(name)).parameters.values()

    assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == SIGNATURES[name]


def test_the_search_engine_is_the_configured_one() -> None:
    """``create_search_engine`` follows ``search_mode``."""
    from holodeck.lib.graphrag import GlobalSearchEngine, GraphRAGStorage, create_search_engine

    config = VectorstoreTool(
        name="t", source="x", engine="graphrag", graphrag=GraphRAGConfig(search_mode="global")
    )

    assert isinstance(create_search_engine(config, GraphRAGStorage(config)), GlobalSearchEngine)


def test_importing_the_package_imports_nothing_heavy() -> None:
    """Whether the library is there is found out without importing it."""
    code = (
        "import sys\n"
        "from holodeck.lib.graphrag import GRAPHRAG_AVAILABLE\n"
        "heavy = {'graphrag', 'litellm', 'pandas', 'pyarrow', 'lancedb', 'numpy', 'spacy'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert child.stdout.strip() == "[]"
