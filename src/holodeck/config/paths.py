"""The paths of an agent are usable: found out before anything is read, built or called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from holodeck.config.loader import LoadedAgent
from holodeck.config.problems import FieldPath
from holodeck.errors import ConfigError, SourceNotFoundError
from holodeck.lib.foreign_tables import find_foreign_tables
from holodeck.lib.paths import resolve_cache_dir, resolve_source, resolve_storage_dir
from holodeck.models.tool import VectorstoreTool

__all__ = ["find_path_problems", "validate_paths"]

_NO_INDEX_SETTING = {
    "name": True,
    "type": True,
    "description": True,
    "source": True,  # compared as the folder that it leads to
    "database": True,
    "filter": True,
    "mode": True,
    "top_k": True,
    "min_similarity_score": True,
    "rerank": True,
    "reranker": True,
    "rerank_top_n": True,
    "graphrag": {
        "storage_dir",
        "search_mode",
        "community_level",
        "ranking",
        "dynamic_community_selection",
        "search_model",
        "response_type",
    },
}
"""Settings of a tool that do not shape its index; a setting that is not here divides two tools."""


def validate_paths(agent: LoadedAgent) -> None:
    """Check every path that the agent's file names or leaves to its default.

    Raises:
        SourceNotFoundError: A tool's documents are not there.
        ConfigError: Instructions, storage or cache cannot be where the file says.
    """
    for problem in find_path_problems(agent):
        raise problem


def find_path_problems(
    agent: LoadedAgent, tool_name: str | None = None, *, to_write: bool = True
) -> list[ConfigError]:
    """Return an error for every path that cannot work; the time grows with the number of tools.

    Args:
        agent: The agent.
        tool_name: Look only at what concerns this tool; default: all of them.
        to_write: Whether an index must be writable; who only searches one need not write.
    """
    found = _errors_of([agent.instructions])
    places, unusable = _places(agent)
    found += [error for name, error in unusable if tool_name in (None, name)]
    chosen = [place for place in places if tool_name in (None, place.tool.name)]
    found += _errors_of(partial(_check_source, agent, place) for place in chosen)
    documents = _documents_below(places)
    found += _errors_of(
        partial(_check_storage, agent, place, documents, to_write) for place in chosen
    )
    found += [
        error
        for names, error in _overlaps(agent, places)
        if tool_name is None or tool_name in names
    ]
    cache_is_named = ("execution", "cache_dir") in agent.lines
    # By default the cache lies beside the indexes: what is in their way is named once.
    if agent.config.execution.cache and (cache_is_named or not found):
        found += _errors_of([partial(_check_cache, agent, documents, to_write)])
    return list({str(error): error for error in found}.values())


def _errors_of(checks: Iterable[Callable[[], object]]) -> list[ConfigError]:
    found: list[ConfigError] = []
    for check in checks:
        try:
            check()
        except ConfigError as error:
            found.append(error)
    return found


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where one tool's documents and index lie, each path looked up once."""

    number: int
    tool: VectorstoreTool
    source: Path
    storage: Path


def _places(agent: LoadedAgent) -> tuple[list[_Place], list[tuple[str, ConfigError]]]:
    """Return the place of each tool, and name and error of those that can have none."""
    places: list[_Place] = []
    unusable: list[tuple[str, ConfigError]] = []
    for number, tool in enumerate(agent.config.tools):
        if not isinstance(tool, VectorstoreTool):
            continue
        try:
            with agent.blaming(("tools", number, "source")):
                source = resolve_source(tool, agent.base_dir)
            with agent.blaming(_storage_path(agent, number)):
                storage = resolve_storage_dir(tool, agent.base_dir)
        except ConfigError as error:
            unusable.append((tool.name, error))
        else:
            if _is_only_read(tool, storage):
                continue  # nothing is built of its documents, and nothing written to its folder
            places.append(_Place(number=number, tool=tool, source=source, storage=storage))
    return places, unusable


def _is_only_read(tool: VectorstoreTool, storage: Path) -> bool:
    """Tell whether the tool's index is one that the graphrag library's command line built."""
    if tool.graphrag is None:
        return False
    try:
        return find_foreign_tables(storage) is not None
    except OSError:  # told where the folder itself is looked at
        return False


def _documents_below(places: Iterable[_Place]) -> dict[Path, Path]:
    """Return folder → documents that it is or holds, for every folder that does."""
    found: dict[Path, Path] = {}
    for place in places:
        for folder in (place.source, *place.source.parents):
            found.setdefault(folder, place.source)
    return found


def _check_source(agent: LoadedAgent, place: _Place) -> None:
    path: FieldPath = ("tools", place.number, "source")
    with agent.blaming(path):
        is_there = place.source.exists()
    if not is_there:
        raise agent.error(
            f"Source path not found: {place.source}; put the documents there or mend the path",
            path,
            SourceNotFoundError,
        )


def _check_cache(agent: LoadedAgent, documents: Mapping[Path, Path], to_write: bool) -> None:
    path: FieldPath = ("execution", "cache_dir")
    with agent.blaming(path):
        cache = resolve_cache_dir(agent.config.execution, agent.base_dir)
    _refuse_documents("cache folder", cache, documents, agent, path)
    _check_folder(agent, cache, path, to_write)


def _check_storage(
    agent: LoadedAgent, place: _Place, documents: Mapping[Path, Path], to_write: bool
) -> None:
    path = _storage_path(agent, place.number)
    _refuse_documents("index folder", place.storage, documents, agent, path)
    _check_folder(agent, place.storage, path, to_write)


def _refuse_documents(
    what: str, folder: Path, documents: Mapping[Path, Path], agent: LoadedAgent, path: FieldPath
) -> None:
    """Refuse documents in a folder that is marked as HoloDeck's own: they would not be read."""
    if folder in documents:
        raise agent.error(
            f"the {what} {folder} is or holds the documents {documents[folder]}: choose a folder "
            "of its own; one inside the documents is fine",
            path,
        )


def _overlaps(
    agent: LoadedAgent, places: Sequence[_Place]
) -> Iterator[tuple[tuple[str, str], ConfigError]]:
    """Yield the names of two tools whose indexes cannot lie where they do, and the error."""
    owners: dict[Path, _Place] = {}
    for place in places:
        first = owners.setdefault(place.storage, place)
        if first is not place and _index_of(first) != _index_of(place):
            yield _overlap(agent, first, place)
    for place in owners.values():
        above = next((owners[up] for up in place.storage.parents if up in owners), None)
        if above is not None:
            yield _overlap(agent, above, place)


def _overlap(agent: LoadedAgent, one: _Place, other: _Place) -> tuple[tuple[str, str], ConfigError]:
    first, second = sorted((one, other), key=lambda place: place.number)
    return (first.tool.name, second.tool.name), agent.error(
        f"the index folder {second.storage} overlaps that of tool {first.tool.name!r} "
        f"({first.storage}), whose index is another one: give each tool a folder of its own",
        _storage_path(agent, second.number),
    )


def _index_of(place: _Place) -> dict[str, Any]:  # Any: setting values
    """Return what shapes the tool's index."""
    return {**place.tool.model_dump(exclude=_NO_INDEX_SETTING), "source": place.source}  # type: ignore[arg-type]  # a type of pydantic's own


def _check_folder(agent: LoadedAgent, folder: Path, path: FieldPath, to_write: bool) -> None:
    with agent.blaming(path):
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        raise agent.error(
            f"{nearest} is a file, where the folder {folder} must be: move it, or choose another",
            path,
        )
    if to_write and not os.access(nearest, os.W_OK | os.X_OK):
        raise agent.error(
            f"the folder {nearest} cannot be written to: change its permissions, or choose another",
            path,
        )


def _storage_path(agent: LoadedAgent, number: int) -> FieldPath:
    """Return the setting that chose the index folder; where none did, the tool."""
    tool: FieldPath = ("tools", number)
    named: tuple[FieldPath, ...] = ((*tool, "graphrag", "storage_dir"), (*tool, "database"))
    return next((path for path in named if path in agent.lines), tool)
