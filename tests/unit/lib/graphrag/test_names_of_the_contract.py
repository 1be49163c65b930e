"""Every public name of the design documents imports from where they put it."""

from __future__ import annotations

import inspect
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holodeck.lib.contracts import Progress
from holodeck.lib.graphrag.indexer import IndexingCallbacks
from holodeck.lib.graphrag.storage import GraphRAGStorage
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
    "holodeck.lib.graphrag:IndexMetadata",
    "holodeck.lib.graphrag:IndexingError",
    "holodeck.lib.graphrag:BaseSearchEngine",
    "holodeck.lib.graphrag:SearchResult",
    "holodeck.lib.graphrag:create_search_engine",
    "holodeck.models.tool:VectorstoreTool",
    "holodeck.models.tool:GraphRAGConfig",
    "holodeck.models.tool:GraphRAGModelConfig",
    "holodeck.models.config:ExecutionConfig",
    "holodeck.tools.vectorstore_tool:VectorStoreTool",
)
MEMBERS = {
    "holodeck.lib.graphrag.storage:GraphRAGStorage": (
        "METADATA_FILE OUTPUT_DIR CACHE_DIR LOGS_DIR REQUIRED_TABLES storage_dir output_dir "
        "cache_dir logs_dir metadata_path ensure_directories has_valid_index get_metadata "
        "save_metadata compute_source_hash needs_reindex clear_index get_table_path load_table"
    ),
    "holodeck.lib.graphrag.storage:IndexMetadata": "to_dict from_dict",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks": (
        "on_workflow_start on_workflow_end on_step_start on_step_end on_error on_warning on_log "
        "pipeline_start pipeline_end workflow_start workflow_end progress pipeline_error"
    ),
    "holodeck.lib.graphrag.indexer:GraphRAGIndexer": "build_index",
    "holodeck.lib.graphrag.engine:GraphRAGEngine": (
        "is_initialized index_stats initialize search close"
    ),
    "holodeck.lib.graphrag.search:BaseSearchEngine": "initialize search",
    "holodeck.lib.graphrag.search:LocalSearchEngine": "initialize search",
    "holodeck.lib.graphrag.search:GlobalSearchEngine": "initialize search",
    "holodeck.tools.vectorstore_tool:VectorStoreTool": "initialize search is_initialized",
}
FIELDS = {
    "holodeck.lib.graphrag.storage:IndexMetadata": (
        "tool_name source_path source_hash indexed_at file_count entity_count "
        "relationship_count community_count graphrag_version config_hash"
    ),
    "holodeck.lib.graphrag.search:SearchResult": (
        "response sources entities_used communities_used search_mode"
    ),
    "holodeck.models.tool:GraphRAGModelConfig": (
        "provider name temperature max_tokens api_base api_version deployment_name"
    ),
    "holodeck.models.tool:GraphRAGConfig": (
        "search_mode community_level indexing_model search_model embedding_model storage_dir "
        "chunk_size chunk_overlap entity_types max_gleanings skip_claim_extraction"
    ),
    "holodeck.models.tool:VectorstoreTool": "name type source description engine graphrag",
}
"""What may be given by these keywords, and read back."""
CALLS = {
    "holodeck.lib.graphrag.engine:GraphRAGEngine.initialize": "force_reindex",
    "holodeck.lib.graphrag.engine:GraphRAGEngine.search": "query",
    "holodeck.lib.graphrag.engine:GraphRAGEngine.close": "",
    "holodeck.lib.graphrag.search:LocalSearchEngine.search": "query",
    "holodeck.lib.graphrag.storage:GraphRAGStorage.save_metadata": "metadata",
    "holodeck.lib.graphrag.storage:GraphRAGStorage.compute_source_hash": "source_path",
    "holodeck.lib.graphrag.storage:GraphRAGStorage.needs_reindex": "source_path",
    "holodeck.lib.graphrag.storage:GraphRAGStorage.get_table_path": "table_name",
    "holodeck.lib.graphrag.storage:GraphRAGStorage.load_table": "table_name",
    "holodeck.lib.graphrag.indexer:GraphRAGIndexer.build_index": "source_path force",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_workflow_start": "name instance",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_workflow_end": "name instance result",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_step_start": "step info",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_step_end": "step info result",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_error": "message cause stack",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_warning": "message",
    "holodeck.lib.graphrag.indexer:IndexingCallbacks.on_log": "message",
    "holodeck.tools.vectorstore_tool:VectorStoreTool.initialize": "force_ingest provider_type",
    "holodeck.tools.vectorstore_tool:VectorStoreTool.search": "query",
}
"""Method → what may be given to it by position, in order."""
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


@pytest.mark.parametrize("name", FIELDS)
def test_a_record_has_the_fields_of_the_documents(name: str) -> None:
    """Also where more were added, which are all optional."""
    parameters = inspect.signature(load_object(name)).parameters

    assert [field for field in FIELDS[name].split() if field not in parameters] == []
    more = set(parameters) - set(FIELDS[name].split())
    assert [field for field in more if parameters[field].default is inspect.Parameter.empty] == []


@pytest.mark.parametrize("name", CALLS)
def test_a_method_takes_what_the_documents_give_it(name: str) -> None:
    """By position and by name; what was added is keyword-only."""
    path, method = name.rsplit(".", 1)
    parameters = inspect.signature(getattr(load_object(path), method)).parameters.values()
    taken = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]

    assert taken == ["self", *CALLS[name].split()]


def test_the_export_list_is_whole() -> None:
    """Every name that the package lists can be had from it."""
    import holodeck.lib.graphrag as package

    assert [name for name in package.__all__ if not hasattr(package, name)] == []


def test_a_table_has_a_path_before_and_after_it_is_there(tmp_path: Path) -> None:
    """A file, or the folder of its parts, by either spelling of its name."""
    config = VectorstoreTool(name="t", source="x", engine="graphrag")
    storage = GraphRAGStorage(config, tmp_path)
    storage.ensure_directories()
    before = storage.get_table_path("create_final_entities")
    (storage.output_dir / "communities").mkdir()
    (storage.output_dir / "communities" / "part-0.parquet").write_bytes(b"x")

    assert before == storage.output_dir / "entities.parquet"
    assert storage.get_table_path("communities") == storage.output_dir / "communities"


def test_callbacks_follow_the_protocol_of_the_library(caplog: pytest.LogCaptureFixture) -> None:
    """What began, what ended, and what went wrong are remembered; a listener hears of progress."""
    heard: list[str] = []
    callbacks = IndexingCallbacks("t", lambda progress: heard.append(progress.step))
    with caplog.at_level(logging.DEBUG):
        callbacks.pipeline_start(["a", "b"])
        callbacks.workflow_start("a", None)
        callbacks.workflow_end("a", None)
        callbacks.progress(Progress(step="b"))
        running = callbacks.current_workflow
        callbacks(Progress(step="c"))
        callbacks.on_step_start("part", {"of": 3})
        callbacks.pipeline_error(ValueError("broken"))
        callbacks.on_warning("mind this")
        callbacks.pipeline_end([])

    assert running == "b"
    assert callbacks.workflows_completed == ["a", "b", "c"]
    assert callbacks.current_workflow is None
    assert heard == ["b", "c"]
    assert "failed (ValueError): broken" in caplog.text
    assert [record.levelname for record in caplog.records if "mind" in record.message] == [
        "WARNING"
    ]


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
