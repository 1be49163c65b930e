"""Where documents and indexes lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from holodeck.lib.paths import (
    resolve_cache_dir,
    resolve_path,
    resolve_source,
    resolve_storage_dir,
)
from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool


def test_relative_paths_count_from_the_base(tmp_path: Path) -> None:
    """An absolute path stays, a relative one counts from the base, dots are written out."""
    tool = VectorstoreTool(name="t", source="docs/../texts/")

    assert resolve_source(tool, tmp_path) == tmp_path / "texts"
    assert resolve_path(str(tmp_path / "x"), "/elsewhere") == tmp_path / "x"


def test_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``~`` means what a shell means by it."""
    monkeypatch.setenv("HOME", str(tmp_path))

    assert resolve_path("~/docs", "/elsewhere") == tmp_path / "docs"


def test_a_link_is_the_folder_it_leads_to(tmp_path: Path) -> None:
    """Two spellings of one folder are one path, so that they can be compared."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert resolve_path("link", tmp_path) == tmp_path / "real"


def test_an_index_lies_by_engine_and_name_unless_told(tmp_path: Path) -> None:
    """Each engine has its own folder below ``.holodeck``; ``storage_dir`` overrides it."""
    vector = VectorstoreTool(name="t", source="x")
    graph = VectorstoreTool(name="t", source="x", engine="graphrag")
    told = VectorstoreTool(
        name="t", source="x", engine="graphrag", graphrag=GraphRAGConfig(storage_dir="idx")
    )

    assert resolve_storage_dir(vector, tmp_path) == tmp_path / ".holodeck/vectorstore/t"
    assert resolve_storage_dir(graph, tmp_path) == tmp_path / ".holodeck/graphrag/t"
    assert resolve_storage_dir(told, tmp_path) == tmp_path / "idx"


def test_the_cache_lies_in_the_project_unless_told(tmp_path: Path) -> None:
    """All tools of a project share one folder of paid replies."""
    assert resolve_cache_dir(ExecutionConfig(), tmp_path) == tmp_path / ".holodeck/cache"
    assert resolve_cache_dir(ExecutionConfig(cache_dir="c"), tmp_path) == tmp_path / "c"
