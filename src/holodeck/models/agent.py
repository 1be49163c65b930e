"""An agent, as YAML declares it."""

from __future__ import annotations

from pydantic import Field, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.texts import Line, Prose
from holodeck.models.tool import ToolConfig

__all__ = ["AgentConfig", "Instructions"]


class Instructions(StrictModel):
    """What the agent is told: inline, or in a file beside the agent's."""

    inline: Prose | None = Field(default=None, description="The text itself")
    file: Line | None = Field(default=None, description="A file that holds it")

    @model_validator(mode="after")
    def _exactly_one(self) -> Instructions:
        if (self.inline is None) == (self.file is None):
            raise ValueError("instructions need exactly one of 'inline' and 'file'")
        return self


class AgentConfig(StrictModel):
    """The whole of ``agent.yaml``."""

    name: Line = Field(description="Name of the agent")
    description: Prose | None = Field(default=None, description="What the agent is for")
    model: LLMProvider = Field(description="The agent's model; tools inherit it")
    instructions: Instructions | None = Field(default=None, description="What the agent is told")
    tools: tuple[ToolConfig, ...] = Field(default=(), description="What the agent may use")
    execution: ExecutionConfig = Field(
        default_factory=ExecutionConfig, description="Time budgets, concurrency, retries, cache"
    )

    @model_validator(mode="after")
    def _tool_names_differ(self) -> AgentConfig:
        first: dict[str, int] = {}
        for i, tool in enumerate(self.tools):
            j = first.setdefault(tool.name.casefold(), i)
            if i != j:
                raise ValueError(
                    f"tools[{i}].name {tool.name!r} is the name of tools[{j}] too, on systems that "
                    "ignore case; their indexes would share a folder: rename one"
                )
        return self
