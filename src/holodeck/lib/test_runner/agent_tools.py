"""What an agent may call: one name, one schema, and an answer that is text in any case.

A tool that fails answers with the reason: a model can ask otherwise, and a transcript shows it.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from holodeck.errors import CostLimitError, HolodeckError, NotInitializedError
from holodeck.lib.test_runner.problems import problems_in, said
from holodeck.lib.test_runner.turns import ToolUse

if TYPE_CHECKING:
    from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = ["AgentTool", "SearchFunction", "read_arguments", "without_titles"]

JsonObject = dict[str, Any]  # Any: JSON


class AgentTool(ABC):
    """A tool as a model sees it.

    Args:
        name: The name in YAML: what models, tests and reports call it.
        description: What it is good for.
        timeout: Seconds for one call.
    """

    def __init__(self, *, name: str, description: str, timeout: float) -> None:
        self.name = name
        self.description = description
        self._timeout = timeout

    @property
    @abstractmethod
    def parameters(self) -> JsonObject:
        """JSON Schema of the arguments."""

    async def call(self, arguments: Mapping[str, Any] | str) -> ToolUse:
        """Do the work; whatever goes wrong becomes the text of a failed use.

        Args:
            arguments: An object, or the JSON of one as a model wrote it.

        Raises:
            CostLimitError: A model that it asks would pass the cap of whoever calls.
            NotInitializedError: Nobody has opened the index that it searches.
        """
        try:
            given = read_arguments(arguments)
        except ValueError as error:
            return self._failed({}, f"its arguments cannot be read ({error}): give one JSON object")
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                return await self._call(given)
        except ValidationError as error:
            why = f"{problems_in(error, 'arguments')}: call it again with that mended"
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            why = "its work was cancelled"  # by itself: nobody cancelled the turn
        except CostLimitError:
            raise  # not of this tool: nothing more may be asked
        except NotInitializedError:
            raise  # the fault of who wrote the program: no model could mend it
        except HolodeckError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001  # a function is its author's code: the model and the transcript get its error
            why = said(error)
            if limit.expired():
                why = f"no result within {self._timeout:g} s (execution.tool_timeout)"
        return self._failed(given, why)

    @abstractmethod
    async def _call(self, arguments: JsonObject) -> ToolUse:
        """Do the work."""

    def _failed(self, arguments: JsonObject, why: str) -> ToolUse:
        return ToolUse(
            name=self.name, arguments=arguments, text=f"{self.name} failed: {why}", failed=True
        )


class SearchFunction(AgentTool):
    """A vectorstore tool as a function of ``query`` and, where modes mean something, ``mode``.

    Args:
        tool: The tool, initialised before the first call.
        timeout: Seconds for one search.
    """

    def __init__(self, tool: VectorStoreTool, *, timeout: float) -> None:
        super().__init__(
            name=tool.config.name, description=tool.config.description, timeout=timeout
        )
        self.tool = tool
        self._arguments = _search_arguments(tool)

    @property
    def parameters(self) -> JsonObject:
        """JSON Schema of the arguments."""
        return without_titles(self._arguments.model_json_schema())

    async def _call(self, arguments: JsonObject) -> ToolUse:
        wanted = self._arguments.model_validate(arguments).model_dump(exclude_none=True)
        result = await self.tool.retrieve(**wanted)
        return ToolUse(
            name=self.name,
            arguments=arguments,
            text=self.tool.engine.render(wanted["query"], result),
            sources=tuple(result.sources),
            context=result.context,
        )


def read_arguments(arguments: Mapping[str, Any] | str) -> JsonObject:
    """Return the arguments as an object.

    Raises:
        ValueError: They are not one.
    """
    read = arguments
    if isinstance(arguments, str):
        read = json.loads(arguments) if arguments.strip() else {}
    if not isinstance(read, Mapping):
        raise ValueError(f"{type(read).__name__} instead of an object")  # noqa: TRY004  # one kind of error for the reader
    return dict(read)


def _search_arguments(tool: VectorStoreTool) -> type[BaseModel]:
    fields: dict[str, Any] = {  # Any: pydantic's own form of a field
        "query": (str, Field(min_length=1, description="What to look for, as a whole question"))
    }
    modes = tool.engine.mode_help
    if modes:
        about = "; ".join(f"{mode!r}: {help_text}" for mode, help_text in modes.items())
        fields["mode"] = (
            Literal[tuple(modes)] | None,
            Field(
                default=None, description=f"How to search, default {_default_mode(tool)!r}. {about}"
            ),
        )
    return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _default_mode(tool: VectorStoreTool) -> str:
    graph = tool.config.graphrag
    return tool.config.mode if graph is None else graph.search_mode


def without_titles(schema: JsonObject) -> JsonObject:
    """Leave out pydantic's titles, which only say the names again, in other letters."""
    properties = {
        name: {key: value for key, value in setting.items() if key != "title"}
        for name, setting in schema.get("properties", {}).items()
    }
    rest = {key: value for key, value in schema.items() if key not in ("title", "properties")}
    return {**rest, "properties": properties}
