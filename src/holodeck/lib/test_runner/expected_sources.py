"""Sources that test cases expect, beside the documents that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from holodeck.errors import SourceNotFoundError
from holodeck.lib.paths import resolve_source
from holodeck.lib.readers import READERS
from holodeck.lib.readers.walk import walk

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.models.test_case import Case

__all__ = ["find_source_problems"]

_PLACE = re.compile(r"(, (page|sheet) \d+)?(, row \d+)?$")


def find_source_problems(agent: LoadedAgent, cases: Sequence[Case]) -> list[str]:
    """Return the expected sources that no tool can ever find, each with the nearest name there is.

    No document is read.
    """
    wanted = [
        (case.name, source)
        for case in cases
        for turn in case.all_turns
        for source in turn.expected_sources or ()
    ]
    if not wanted:
        return []
    try:
        names = sorted(set(_documents(agent)))
    except SourceNotFoundError:
        return []  # told by the check of paths; an index may be there all the same
    missing = [(case, source) for case, source in wanted if _file(source) not in names]
    return [
        f"test case {case!r}: expected_sources names {source!r}, and no tool has such a document: "
        f"{_advice(source, names)}"
        for case, source in dict.fromkeys(missing)
    ]


def _documents(agent: LoadedAgent) -> Iterator[str]:
    for tool in agent.config.vectorstore_tools:
        root = resolve_source(tool, agent.base_dir)
        found = walk(root, allow_external_links=tool.allow_external_links)
        for file in found.files:
            if PurePosixPath(file.path).suffix.lower() in READERS:
                yield file.path


def _file(source: str) -> str:
    return _PLACE.sub("", source)


def _advice(source: str, names: Sequence[str]) -> str:
    """Return what to write: a file of that name in another folder goes before a similar one."""
    file = _file(source)
    last = PurePosixPath(file).name
    same = [name for name in names if PurePosixPath(name).name == last]
    near = same[:1] or get_close_matches(file, names, n=1)
    if near:
        return f"write {near[0] + source[len(file) :]!r}"
    return "write a file's path, relative to the source of the tool"
