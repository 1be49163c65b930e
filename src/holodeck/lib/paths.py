"""Where a tool's documents and its index lie."""

from __future__ import annotations

from pathlib import Path

from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import VectorstoreTool

__all__ = ["resolve_cache_dir", "resolve_path", "resolve_source", "resolve_storage_dir"]

_INDEX_FOLDERS = {"default": "vectorstore", "graphrag": "graphrag"}


def resolve_path(path: str | Path, base_dir: str | Path) -> Path:
    """Return ``path``, counted from ``base_dir``, absolute and without links; ``~`` is home."""
    return (Path(base_dir) / Path(path).expanduser()).resolve()


def resolve_source(tool: VectorstoreTool, base_dir: str | Path) -> Path:
    """Return the file or folder of the tool's documents, whether it exists or not."""
    return resolve_path(tool.source, base_dir)


def resolve_storage_dir(tool: VectorstoreTool, base_dir: str | Path) -> Path:
    """Return the folder of the tool's index: ``storage_dir``, else one by engine and name."""
    named = None if tool.graphrag is None else tool.graphrag.storage_dir
    default = Path(".holodeck") / _INDEX_FOLDERS[tool.engine] / tool.name
    return resolve_path(named or default, base_dir)


def resolve_cache_dir(execution: ExecutionConfig, base_dir: str | Path) -> Path:
    """Return the folder of the paid replies, which the tools of a project share."""
    return resolve_path(execution.cache_dir or Path(".holodeck") / "cache", base_dir)
