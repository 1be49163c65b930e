"""The same agent with another engine or setting, to compare both on the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pydantic

from holodeck.config.lines import settings_of
from holodeck.config.messages import explain
from holodeck.errors import ConfigError
from holodeck.models.tool import NOT_WITH_GRAPHRAG, VectorstoreTool

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent

__all__ = ["Variant", "make_variants"]


_NO_SETTINGS = ("name", "type")
"""What says which tool it is, and that it searches."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One side of a comparison: ``label`` is ``setting=value``."""

    label: str
    agent: LoadedAgent


def make_variants(agent: LoadedAgent, wanted: Sequence[str]) -> list[Variant]:
    """Return the agent once for each value that is to be compared.

    Args:
        agent: The agent as its file has it.
        wanted: Engines (``graphrag``), or ``setting=value`` counted from a search tool
            (``graphrag.ranking=library``, ``top_k=10``); each applies to every search tool.

    Raises:
        ConfigError: There is no search tool, or a setting cannot have the value.
    """
    if not agent.config.vectorstore_tools:
        raise ConfigError("the agent has no tool that searches documents: nothing to compare")
    return [_variant(agent, each) for each in dict.fromkeys(wanted)]


def _variant(agent: LoadedAgent, wanted: str) -> Variant:
    setting, equals, value = wanted.partition("=")
    if not equals:
        setting, value = "engine", setting
    if setting in _NO_SETTINGS or "" in setting.split("."):
        raise ConfigError(
            f"--compare {wanted} names no setting that tools can differ in: give an engine, or a "
            "setting of the search tools as in top_k=10"
        )
    tools = tuple(
        _changed(tool, setting, value) if isinstance(tool, VectorstoreTool) else tool
        for tool in agent.config.tools
    )
    config = agent.config.model_copy(update={"tools": tools})
    return Variant(label=f"{setting}={value}", agent=replace(agent, config=config))


def _changed(tool: VectorstoreTool, setting: str, value: str) -> VectorstoreTool:
    data: dict[str, Any] = tool.model_dump(exclude_unset=True)  # Any: what YAML holds
    if setting == "engine" and value != tool.engine:
        data = {
            name: kept
            for name, kept in data.items()
            if name != "graphrag" and (value != "graphrag" or name not in NOT_WITH_GRAPHRAG)
        }
    *above, last = setting.split(".")
    place = data
    for part in above:
        found = place.get(part)
        place[part] = dict(found) if isinstance(found, dict) else {}
        place = place[part]
    place[last] = value
    try:
        return VectorstoreTool.model_validate(data)
    except pydantic.ValidationError as error:
        problems = explain(error.errors(), VectorstoreTool, settings_of(data))
        why = "; ".join(problem.message for problem in problems)
        raise ConfigError(
            f"tool {tool.name!r} cannot be compared with {setting}={value}: {why}"
        ) from None
