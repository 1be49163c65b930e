"""The library's prompts, read from its installed files without importing it.

A prompt is a template with named placeholders in single braces and literal braces doubled. Document
text is put in by ``fill``, which never treats it as a template.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from holodeck.errors import MissingExtraError

__all__ = ["INDEX_PROMPTS", "SEARCH_PROMPTS", "Template", "fill", "read_prompts"]

INDEX_PROMPTS: Mapping[str, tuple[str, str]] = {
    "extract": ("index/extract_graph.py", "GRAPH_EXTRACTION_PROMPT"),
    "glean": ("index/extract_graph.py", "CONTINUE_PROMPT"),
    "glean_more": ("index/extract_graph.py", "LOOP_PROMPT"),
    "claims": ("index/extract_claims.py", "EXTRACT_CLAIMS_PROMPT"),
    "claims_glean": ("index/extract_claims.py", "CONTINUE_PROMPT"),
    "claims_glean_more": ("index/extract_claims.py", "LOOP_PROMPT"),
    "summarize": ("index/summarize_descriptions.py", "SUMMARIZE_PROMPT"),
    "report": ("index/community_report.py", "COMMUNITY_REPORT_PROMPT"),
}
SEARCH_PROMPTS: Mapping[str, tuple[str, str]] = {
    "local": ("query/local_search_system_prompt.py", "LOCAL_SEARCH_SYSTEM_PROMPT"),
    "map": ("query/global_search_map_system_prompt.py", "MAP_SYSTEM_PROMPT"),
    "reduce": ("query/global_search_reduce_system_prompt.py", "REDUCE_SYSTEM_PROMPT"),
}
"""Our name of a prompt → its file below the library's ``prompts/`` and its constant there."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def read_prompts(names: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the prompts of the installed library.

    Raises:
        MissingExtraError: The library is not installed, or holds no such prompt.
    """
    spec = find_spec("graphrag")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "engine: graphrag needs the package 'graphrag' to read its prompts. Add it with "
            "'pip install holodeck[graphrag]'"
        )
    root = Path(spec.submodule_search_locations[0]) / "prompts"
    return {
        name: _constant(root / file, constant, name) for name, (file, constant) in names.items()
    }


def _constant(file: Path, constant: str, name: str) -> str:
    if file.is_file():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
                continue
            named = any(isinstance(t, ast.Name) and t.id == constant for t in node.targets)
            if named and isinstance(node.value.value, str):
                return node.value.value
    raise MissingExtraError(
        f"the installed graphrag library has no prompt {constant} for {name!r}: install a version "
        "that holodeck[graphrag] allows"
    )


class Template:
    """A prompt, taken apart once."""

    def __init__(self, text: str) -> None:
        self._parts: list[str] = []
        self._names: dict[int, str] = {}  # place among the parts → whose value stands there
        end = 0
        for found in _PLACEHOLDER.finditer(text):
            self._parts.append(text[end : found.start()])
            if found.group(1) is not None:
                self._names[len(self._parts)] = found.group(1)
            self._parts.append(found.group(0)[0])
            end = found.end()
        self._parts.append(text[end:])

    def fill(self, **values: str) -> str:
        """Return the text with each ``{name}`` replaced; doubled braces become single ones.

        The values are put in as they are: braces in them mean nothing.
        """
        parts = list(self._parts)
        for place, name in self._names.items():
            parts[place] = values[name]
        return "".join(parts)


def fill(template: str, **values: str) -> str:
    """Return ``Template(template).fill(**values)``."""
    return Template(template).fill(**values)
