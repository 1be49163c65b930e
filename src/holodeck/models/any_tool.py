"""Any kind of tool: which one, its ``type`` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Tag

from holodeck.models.function_tool import FunctionTool
from holodeck.models.tool import VectorstoreTool

__all__ = ["TOOL_KIND_ERROR", "TOOL_TAGS", "ToolConfig"]

_SEARCH, _FUNCTION = "a search tool", "a function"
TOOL_TAGS = (_SEARCH, _FUNCTION)
"""What pydantic puts into the path of an error to say which kind was meant; no key is so named."""

TOOL_KIND_ERROR = "tool_kind"
"""Pydantic's name of the error for a ``type`` that there is not."""

_KINDS = {"vectorstore": _SEARCH, "function": _FUNCTION}


def _kind(value: Any) -> str | None:  # Any: what YAML holds
    is_mapping = isinstance(value, Mapping)
    named = value.get("type", "vectorstore") if is_mapping else getattr(value, "type", None)
    if not isinstance(named, str):
        return None if is_mapping else _SEARCH  # what is no mapping is told what a tool is
    return _KINDS.get(named)


ToolConfig = Annotated[
    Annotated[VectorstoreTool, Tag(_SEARCH)] | Annotated[FunctionTool, Tag(_FUNCTION)],
    Discriminator(
        _kind,
        custom_error_type=TOOL_KIND_ERROR,
        custom_error_message="type must be 'vectorstore' or 'function'",
    ),
]
"""A tool of an agent."""
