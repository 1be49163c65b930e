"""An agent, as YAML declares it."""

from __future__ import annotations

from pydantic import Field, model_validator

from holodeck.models.any_tool import ToolConfig
from holodeck.models.base import StrictModel
from holodeck.models.config import ExecutionConfig
from holodeck.models.evaluation import Evaluations
from holodeck.models.function_tool import FunctionTool
from holodeck.models.llm import LLMProvider
from holodeck.models.test_case import Case
from holodeck.models.texts import Line, Prose
from holodeck.models.tool import VectorstoreTool

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
    evaluations: Evaluations = Field(
        default_factory=Evaluations, description="How answers of test cases are judged"
    )
    test_cases: tuple[Case, ...] = Field(default=(), description="What 'holodeck test' asks")
    test_cases_file: Line | None = Field(default=None, description="A YAML file with more of them")
    execution: ExecutionConfig = Field(
        default_factory=ExecutionConfig, description="Time budgets, concurrency, retries, cache"
    )

    @property
    def vectorstore_tools(self) -> tuple[VectorstoreTool, ...]:
        """The tools that search documents."""
        return tuple(tool for tool in self.tools if isinstance(tool, VectorstoreTool))

    @property
    def function_tools(self) -> tuple[FunctionTool, ...]:
        """The tools that are Python functions."""
        return tuple(tool for tool in self.tools if isinstance(tool, FunctionTool))

    @model_validator(mode="after")
    def _tool_names_differ(self) -> AgentConfig:
        first: dict[str, int] = {}
        for i, tool in enumerate(self.tools):
            j = first.setdefault(tool.name.casefold(), i)
            if i != j:
                why = "too" if tool.name == self.tools[j].name else "too where case is ignored"
                raise ValueError(
                    f"tools[{i}].name {tool.name!r} is the name of tools[{j}] {why}: rename one, "
                    "a model tells tools apart by name and each has a folder of that name"
                )
        return self
