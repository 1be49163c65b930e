"""Where a tool's documents and its index lie."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from holodeck.errors import ConfigError
from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import VectorstoreTool

__all__ = [
    "check_writable",
    "openable",
    "resolve_cache_dir",
    "resolve_own_dir",
    "resolve_path",
    "resolve_source",
    "resolve_storage_dir",
]

_INDEX_FOLDERS = {"default": "vectorstore", "graphrag": "graphrag"}


def openable(path: str | Path) -> Path:
    """Return ``path`` as this process can open it; the same path where it already can.

    Under a locale such as ``C`` Python may spell file names in ASCII; YAML spells them in UTF-8.
    """
    return Path(os.fsdecode(os.fspath(path).encode("utf-8", "surrogateescape")))


def resolve_path(path: str | Path, base_dir: str | Path) -> Path:
    """Return ``path``, counted from ``base_dir``, absolute and without links; ``~`` is home.

    Raises:
        ConfigError: No system could open it: a NUL, links in a circle, no such home.
    """
    try:
        resolved = (openable(base_dir) / openable(path).expanduser()).resolve()
        _refuse_a_circle(resolved)
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"the path {str(path)!r} cannot be used ({error}): mend it where it is set"
        ) from error
    return resolved


def _refuse_a_circle(resolved: Path) -> None:
    """Raise the system's error where links lead back to themselves; ``resolve`` does not always."""
    try:
        resolved.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise


def resolve_source(tool: VectorstoreTool, base_dir: str | Path) -> Path:
    """Return the file or folder of the tool's documents, whether it exists or not."""
    return resolve_path(tool.source, base_dir)


def resolve_storage_dir(tool: VectorstoreTool, base_dir: str | Path) -> Path:
    """Return the folder of the tool's index: as YAML names it, else by engine and name."""
    named = tool.database if tool.graphrag is None else tool.graphrag.storage_dir
    return resolve_path(named, base_dir) if named else resolve_own_dir(tool, base_dir)


def resolve_own_dir(tool: VectorstoreTool, base_dir: str | Path) -> Path:
    """Return the folder below ``.holodeck`` that is the tool's whatever its settings say."""
    return resolve_path(Path(".holodeck") / _INDEX_FOLDERS[tool.engine] / tool.name, base_dir)


def resolve_cache_dir(execution: ExecutionConfig, base_dir: str | Path) -> Path:
    """Return the folder of the paid replies, which the tools of a project share."""
    return resolve_path(execution.cache_dir or Path(".holodeck") / "cache", base_dir)


def check_writable(folder: Path) -> None:
    """Write a file into a folder and delete it; permissions alone do not tell.

    Raises:
        OSError: It cannot be written to; ``filename`` is the folder.
    """
    try:
        with tempfile.TemporaryFile("w+b", dir=folder) as stream:
            stream.write(b"\0")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error
