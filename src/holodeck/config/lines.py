"""YAML text → plain data, with the line of every setting.

Only what JSON could say too is read: no tags, no repeated keys, no more than a bounded number of
settings once aliases are written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from holodeck.config.problems import FieldPath, Problem

__all__ = ["YamlSettings", "read_settings", "settings_of"]

MAX_SETTINGS = 100_000
"""Settings that one file may hold, those that aliases repeat included."""

MAX_DEPTH = 50
"""Mappings and lists inside one another."""

Found = TypeVar("Found")

_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp"))

# A key without quotes may begin like an alias or a tag; PyYAML would show it.
_NAMED = re.compile(r"\b(alias|anchor|tag|handle) '.*'")


@dataclass(frozen=True, kw_only=True)
class YamlSettings:
    """What a file says.

    Attributes:
        data: Mappings, lists and scalars.
        lines: Path of every setting and list item → its 1-based line.
        expanded: Path of every scalar that named a variable → the text as the file has it.
        problems: What cannot be read; ``data`` is of use only when there is none.
    """

    data: Any  # Any: what YAML holds
    lines: dict[FieldPath, int] = field(default_factory=dict)
    expanded: dict[FieldPath, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_settings(text: str, expand: Callable[[str], str]) -> YamlSettings:
    """Read one YAML document; ``expand`` replaces the variables of a scalar.

    What a variable stands for stays a string, as it is: the type of the field decides what it
    means. (YAML would make a number of the key ``123`` and ``False`` of the name ``no``.) Only
    ``null`` and ``~`` without quotes are no value, as YAML has it.
    """
    reader = _Reader(expand)
    try:
        root = _compose(text)
        data = None if root is None else reader.read(root, ())
    except yaml.YAMLError as error:
        return YamlSettings(data=None, problems=(_syntax_problem(error, text),))
    except _TooMuch as error:
        return YamlSettings(data=None, problems=(Problem(message=str(error), line=error.line),))
    return YamlSettings(
        data=data,
        lines=reader.lines,
        expanded=reader.expanded,
        problems=tuple(reader.problems),
    )


def settings_of(data: Any) -> YamlSettings:  # Any: what YAML holds
    """Return settings that stand in no file, each in line 0."""
    return YamlSettings(data=data, lines=dict.fromkeys(_paths(data, ()), 0))


def _paths(data: Any, above: FieldPath) -> Iterator[FieldPath]:  # Any: what YAML holds
    if isinstance(data, Mapping):
        parts = tuple(data.items())
    else:
        parts = tuple(enumerate(data)) if isinstance(data, list | tuple) else ()
    for key, value in parts:
        yield (*above, key)
        yield from _paths(value, (*above, key))


class _TooMuch(Exception):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class _Composer(yaml.SafeLoader):
    """Refuses depth before Python's stack does."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:  # Any: PyYAML's nodes are untyped
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _TooMuch(
                f"settings lie more than {MAX_DEPTH} deep; no agent needs that",
                self.line + 1,
            )
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _compose(text: str) -> yaml.Node | None:
    composer = _Composer(text)
    try:
        return composer.get_single_node()
    finally:
        composer.dispose()


def _syntax_problem(error: yaml.YAMLError, text: str) -> Problem:
    """Say where YAML stopped, without the snippet that PyYAML shows: it may hold a key."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        said = _NAMED.sub(r"\1", said)
        line = None if mark is None else mark.line + 1
    elif isinstance(error, yaml.reader.ReaderError):
        found = error.character
        said = (
            f"the character U+{found if isinstance(found, int) else ord(found):04X} is not allowed"
        )
        line = text.count("\n", 0, error.position) + 1
    else:
        said, line = type(error).__name__, None
    return Problem(message=f"not valid YAML: {said}{_syntax_hint(text, line)}", line=line)


def _syntax_hint(text: str, line: int | None) -> str:
    rows = text.splitlines()
    row = rows[line - 1] if line is not None and line <= len(rows) else ""
    if "\t" in row:
        return "; indent with spaces, YAML takes no tabs"
    if "${" in row:
        return '; inside {...} or [...] a variable needs quotes: "${NAME}"'
    return "; check the indentation, quotes and colons there and in the line above"


class _Reader:
    """Walks the nodes once for every place where they stand."""

    def __init__(self, expand: Callable[[str], str]) -> None:
        self.lines: dict[FieldPath, int] = {}
        self.expanded: dict[FieldPath, str] = {}
        self.problems: list[Problem] = []
        self._expand = expand
        self._seen = 0
        self._open: list[yaml.Node] = []
        self._scalars = yaml.constructor.SafeConstructor()

    def read(self, node: yaml.Node, path: FieldPath) -> Any:  # Any: what YAML holds
        """Return what ``node`` says."""
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self._seen += 1
        if self._seen > MAX_SETTINGS:
            raise _TooMuch(f"more than {MAX_SETTINGS} settings; do aliases repeat them?", line)
        if any(node is other for other in self._open):
            raise _TooMuch("an alias (*name) stands inside what it stands for", line)
        self._open.append(node)
        try:
            if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
                return [self.read(item, (*path, i)) for i, item in enumerate(node.value)]
            if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
                return self._scalar(node, path)
        finally:
            self._open.pop()
        self._report("tags (!name) are not supported: quote the text or leave it out", line, path)
        return None

    def _mapping(self, node: yaml.MappingNode, path: FieldPath) -> dict[str, Any]:  # Any: YAML
        data: dict[str, Any] = {}
        merges: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                merges.append(value_node)
                continue
            key = self._key(key_node, path)
            if key is None:
                continue
            line = key_node.start_mark.line + 1
            if key in data:
                first = self.lines[*path, key]
                self._report(f"set twice (first in line {first}); keep one", line, (*path, key))
                continue
            self.lines[*path, key] = line
            data[key] = self.read(value_node, (*path, key))
        for value_node in merges:
            self._merge(value_node, path, data)
        return data

    def _merge(self, node: yaml.Node, path: FieldPath, data: dict[str, Any]) -> None:  # Any: YAML
        """Add what ``<<`` names: what stands in the mapping itself, or was named first, wins."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for source in sources:
            line = source.start_mark.line + 1
            if not isinstance(source, yaml.MappingNode):
                self._report("'<<' takes a mapping or a list of mappings", line, path)
                continue
            part = _Reader(self._expand)
            part._seen, part._open = self._seen, self._open
            merged = part.read(source, path)
            self._seen = part._seen
            self.problems += part.problems
            if not isinstance(merged, dict):
                continue
            new = {key: value for key, value in merged.items() if key not in data}
            data.update(new)
            self.lines |= _taken(part.lines, len(path), new)
            self.expanded |= _taken(part.expanded, len(path), new)

    def _key(self, node: yaml.Node, path: FieldPath) -> str | None:
        if isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "str":
            return str(node.value)
        self._report("a key must be text; put it in quotes", node.start_mark.line + 1, path)
        return None

    def _scalar(self, node: yaml.ScalarNode, path: FieldPath) -> Any:  # Any: a YAML scalar
        if "${" not in node.value:
            try:
                return self._scalars.construct_object(node)
            except (ValueError, OverflowError) as error:
                is_number = node.tag == _TAG + "int"  # Python's words are about Python's limits
                said = "more digits than any setting has" if is_number else str(error)
                self._report(
                    f"not a value of this form ({said}): put it in quotes, if it is a text",
                    self.lines[path],
                    path,
                )
                return None
        self.expanded[path] = node.value
        try:
            text = self._expand(node.value)
        except ValueError as error:
            self._report(str(error), self.lines[path], path)
            return None
        return None if node.style is None and text in ("~", "null") else text

    def _report(self, message: str, line: int, path: FieldPath) -> None:
        self.problems.append(Problem(message=message, line=line, path=path))


def _taken(
    found: Mapping[FieldPath, Found], depth: int, keys: Collection[str]
) -> dict[FieldPath, Found]:
    """Return what was found below these keys of a mapping that lies ``depth`` deep."""
    return {at: value for at, value in found.items() if len(at) > depth and at[depth] in keys}
