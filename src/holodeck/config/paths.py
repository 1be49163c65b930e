"""The paths of an agent are usable: found out before anything is read, built or called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from holodeck.config.loader import LoadedAgent
from holodeck.config.problems import FieldPath
from holodeck.errors import ConfigError, SourceNotFoundError
from holodeck.lib.foreign_tables import find_foreign_tables
from holodeck.lib.paths import resolve_cache_dir, resolve_source, resolve_storage_dir
from holodeck.models.tool import VectorstoreTool

__all__ = ["find_path_problems", "validate_paths"]

_SEARCH_ONLY = (
    "search_mode",
    "community_level",
    "ranking",
    "dynamic_community_selection",
    "search_model",
    "response_type",
)
"""Settings of ``graphrag`` that shape answers and not the index."""

_INDEX_SETTINGS = {
    "default": ("embedding_model", "embedding_dimensions", "chunk_size", "chunk_overlap"),
    "graphrag": ("embedding_model",),
}
_READING_SETTINGS = ("strict", "allow_external_links", "encoding_fallback")


def validate_paths(agent: LoadedAgent) -> None:
    """Check every path that the agent's file names or leaves to its default.

    Raises:
        SourceNotFoundError: A tool's documents are not there.
        ConfigError: Instructions, storage or cache cannot be where the file says.
    """
    for problem in find_path_problems(agent):
        raise problem


def find_path_problems(agent: LoadedAgent, tool_name: str | None = None) -> list[ConfigError]:
    """Return an error for every path that cannot work.

    Args:
        agent: The agent.
        tool_name: Look only at what concerns this tool; default: all of them.
    """
    found = _errors_of(_checks(agent, tool_name))
    cache_is_named = ("execution", "cache_dir") in agent.lines
    # By default the cache lies beside the indexes: what is in their way is named once.
    if agent.config.execution.cache and (cache_is_named or not found):
        found += _errors_of([partial(_check_cache, agent)])
    return found


def _errors_of(checks: Iterable[Callable[[], object]]) -> list[ConfigError]:
    found: dict[str, ConfigError] = {}
    for check in checks:
        try:
            check()
        except ConfigError as error:
            found.setdefault(str(error), error)
    return list(found.values())


def _checks(agent: LoadedAgent, tool_name: str | None) -> Iterator[Callable[[], object]]:
    tools = [
        (number, tool)
        for number, tool in enumerate(agent.config.tools)
        if isinstance(tool, VectorstoreTool)
    ]
    read_only = {number for number, tool in tools if _is_only_read(agent, tool)}
    chosen = [
        number
        for number, tool in tools
        if tool_name in (None, tool.name) and number not in read_only
    ]
    yield agent.instructions
    named = dict(tools)
    for number in chosen:
        yield partial(_check_source, agent, named[number], number)
    for number in chosen:
        yield partial(_check_storage, agent, named[number], number)
    for (one, first), (other, second) in combinations(tools, 2):
        if (one in chosen or other in chosen) and not read_only & {one, other}:
            yield partial(_check_apart, agent, first, second, other)


def _is_only_read(agent: LoadedAgent, tool: VectorstoreTool) -> bool:
    """Tell whether the tool's index is one of the graphrag library's: nothing is built then."""
    if tool.graphrag is None or tool.graphrag.storage_dir is None:
        return False
    try:
        return find_foreign_tables(resolve_storage_dir(tool, agent.base_dir)) is not None
    except (ConfigError, OSError):  # told where the folder itself is checked
        return False


def _check_source(agent: LoadedAgent, tool: VectorstoreTool, number: int) -> None:
    path: FieldPath = ("tools", number, "source")
    with _blaming(agent, path):
        source = resolve_source(tool, agent.base_dir)
        is_there = source.exists()
    if not is_there:
        raise agent.error(
            f"Source path not found: {source}; put the documents there or mend the path",
            path,
            SourceNotFoundError,
        )


def _check_cache(agent: LoadedAgent) -> None:
    path: FieldPath = ("execution", "cache_dir")
    with _blaming(agent, path):
        cache = resolve_cache_dir(agent.config.execution, agent.base_dir)
    _check_writable(agent, cache, path)


@contextmanager
def _blaming(agent: LoadedAgent, path: FieldPath) -> Iterator[None]:
    """Place what a path itself does wrong (a NUL, a name too long) at its setting."""
    try:
        yield
    except ConfigError as error:
        raise agent.error(error.message, path) from error
    except OSError as error:
        raise agent.error(f"the path cannot be looked at ({error.strerror})", path) from error


def _check_storage(agent: LoadedAgent, tool: VectorstoreTool, number: int) -> None:
    path = _storage_path(agent, number)
    with _blaming(agent, path):
        storage = resolve_storage_dir(tool, agent.base_dir)
        sources = [resolve_source(each, agent.base_dir) for each in agent.config.vectorstore_tools]
    for source in sources:
        if _holds(storage, source):
            raise agent.error(
                f"the index folder {storage} is or holds the documents {source}: choose a "
                "folder of its own; one inside the documents is fine",
                path,
            )
    _check_writable(agent, storage, path)


def _check_apart(
    agent: LoadedAgent, first: VectorstoreTool, second: VectorstoreTool, number: int
) -> None:
    with _blaming(agent, _storage_path(agent, number)):
        one, other = (resolve_storage_dir(tool, agent.base_dir) for tool in (first, second))
    if not (_holds(one, other) or _holds(other, one)):
        return
    if one == other and _index_of(first, agent.base_dir) == _index_of(second, agent.base_dir):
        return
    raise agent.error(
        f"the index folder {other} overlaps that of tool {first.name!r} ({one}), whose index "
        "is another one: give each tool a folder of its own",
        _storage_path(agent, number),
    )


def _index_of(tool: VectorstoreTool, base_dir: Path) -> dict[str, Any]:  # Any: setting values
    """Return what shapes the tool's index."""
    index: dict[str, Any] = {"engine": tool.engine, "source": resolve_source(tool, base_dir)}
    for name in (*_READING_SETTINGS, *_INDEX_SETTINGS[tool.engine]):
        index[name] = getattr(tool, name)
    if tool.graphrag is not None:
        graph = tool.graphrag.model_dump(exclude={"storage_dir", *_SEARCH_ONLY})
        index |= {f"graphrag.{name}": value for name, value in graph.items()}
    return index


def _check_writable(agent: LoadedAgent, folder: Path, path: FieldPath) -> None:
    with _blaming(agent, path):
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        raise agent.error(
            f"{nearest} is a file, where the folder {folder} must be: move it, or choose another",
            path,
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise agent.error(
            f"the folder {nearest} cannot be written to: change its permissions, or choose another",
            path,
        )


def _holds(folder: Path, other: Path) -> bool:
    return other.is_relative_to(folder)


def _storage_path(agent: LoadedAgent, number: int) -> FieldPath:
    """Return the setting that chose the index folder; where none did, the tool."""
    named: FieldPath = ("tools", number, "graphrag", "storage_dir")
    return named if named in agent.lines else ("tools", number)
