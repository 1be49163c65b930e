"""A tool that is a Python function."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holodeck.models.base import StrictModel
from holodeck.models.texts import Prose

__all__ = ["FunctionTool"]


class FunctionTool(StrictModel):
    """A Python function that the agent's model may call."""

    name: str = Field(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$",
        description="Name of the tool: what a model calls; letters, digits, '-' and '_'",
    )
    type: Literal["function"] = Field(description="Kind of tool")
    description: Prose | None = Field(
        default=None,
        description="What the tool is good for; default: the function's docstring",
    )
    function: str = Field(
        pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$",
        description="The function as 'module:name'; the module lies in the agent's folder",
    )
