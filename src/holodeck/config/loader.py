"""An agent's file → a validated configuration that knows where it came from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from holodeck.config.environment import expand, read_environment
from holodeck.config.fields import as_written
from holodeck.config.files import read_text
from holodeck.config.lines import YamlSettings, read_settings
from holodeck.config.messages import explain
from holodeck.config.problems import (
    FieldPath,
    Problem,
    field_name,
    field_path,
    joined_error,
    problems_error,
)
from holodeck.errors import ConfigError
from holodeck.lib.imports import load_object
from holodeck.lib.paths import openable, resolve_path
from holodeck.lib.resolution import find_setting_problems
from holodeck.lib.unused_settings import find_unused_settings
from holodeck.models.agent import AgentConfig
from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import VectorstoreTool

if TYPE_CHECKING:
    from holodeck.lib.contracts import ProgressListener

__all__ = ["LoadedAgent", "load_agent"]

MAX_BYTES = 1_000_000
"""Size of an agent's file; a larger one is something else."""


@dataclass(frozen=True, kw_only=True)
class LoadedAgent:
    """A configuration and the place that it was loaded from.

    Attributes:
        config: What the file says.
        file: The file, as an absolute path.
        base_dir: Its folder: every relative path in it counts from here.
        environment: The process's variables over those of the ``.env`` file; models find their
            keys here.
        lines: Path of every setting in the file → its line, for errors found later.
    """

    config: AgentConfig
    file: Path
    base_dir: Path
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    lines: Mapping[FieldPath, int] = field(default_factory=dict, repr=False, compare=False)

    def tool_config(self, name: str | None = None) -> VectorstoreTool:
        """Return the configuration of a tool; where there is only one, its name may be left out.

        Raises:
            ConfigError: There is no such tool, or several and none was named.
        """
        tools = {tool.name: tool for tool in self.config.vectorstore_tools}
        names = ", ".join(tools)
        if not tools:
            raise ConfigError(
                "the agent has no tools that search documents: add one under 'tools:'",
                file=self.file,
            )
        if name is None and len(tools) > 1:
            raise ConfigError(f"there are several tools: name one of {names}", file=self.file)
        if name is None:
            return self.config.vectorstore_tools[0]
        if name not in tools:
            raise ConfigError(f"there is no tool {name!r}: the tools are {names}", file=self.file)
        return tools[name]

    def tool_configs(self, name: str | None = None) -> tuple[VectorstoreTool, ...]:
        """Return the configurations of all tools, or of the named one alone.

        Raises:
            ConfigError: There is no such tool, or none at all.
        """
        if name is None and len(self.config.vectorstore_tools) > 1:
            return self.config.vectorstore_tools
        return (self.tool_config(name),)

    def tool(  # Any: tools stand above this room
        self,
        name: str | None = None,
        *,
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
    ) -> Any:
        """Return the ``VectorStoreTool`` of a tool.

        Args:
            name: As for ``tool_config``.
            on_progress: Told how far a build is.
            wait_for_builder: Wait while another process builds the index, or fail at once.
        """
        runtime = load_object("holodeck.tools.vectorstore_tool:VectorStoreTool")
        config = self.tool_config(name)
        return runtime(
            config,
            base_dir=str(self.base_dir),
            execution_config=self.config.execution,
            agent_model=self.config.model,
            environ=self.environment,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
            placed=partial(self.placed, tool_name=config.name),
        )

    def costing_at_most(self, dollars: float) -> LoadedAgent:
        """Return the same agent, of which one build may cost so many USD.

        Raises:
            ConfigError: It is no amount above 0.
        """
        try:
            cap = ExecutionConfig(max_cost=dollars).max_cost
        except (ValidationError, OverflowError):
            cap = None
        if cap is None:
            raise ConfigError(
                f"costing_at_most({dollars!r}): give an amount of USD above 0; without the call "
                "there is no cap but that of the file",
                file=self.file,
                field="execution.max_cost",
            )
        execution = self.config.execution.model_copy(update={"max_cost": cap})
        return replace(self, config=self.config.model_copy(update={"execution": execution}))

    def renewing_replies(self) -> LoadedAgent:
        """Return the same agent, which pays again for what was kept, and replaces it."""
        execution = self.config.execution
        if execution.cache:  # where nothing is kept, nothing is replaced
            execution = execution.model_copy(update={"cache": "renew"})
        return replace(self, config=self.config.model_copy(update={"execution": execution}))

    def filtered(self, tool_name: str, wanted: Mapping[str, str]) -> LoadedAgent:
        """Return the same agent, one of whose tools looks only at what has these values.

        Raises:
            ConfigError: The tool's engine cannot filter.
        """
        if self.tool_config(tool_name).engine != "default":
            raise ConfigError(
                f"tool {tool_name!r} has engine: {self.tool_config(tool_name).engine}, which "
                "searches all documents: leave --filter out",
                file=self.file,
            )
        tools = tuple(
            tool.model_copy(update={"filter": {**(tool.filter or {}), **wanted}})
            if isinstance(tool, VectorstoreTool) and tool.name == tool_name
            else tool
            for tool in self.config.tools
        )
        return replace(self, config=self.config.model_copy(update={"tools": tools}))

    def instructions(self) -> str | None:
        """Return what the agent is told, read from its file where YAML names one.

        Raises:
            ConfigError: The file cannot be read or is blank.
        """
        told = self.config.instructions
        if told is None or told.file is None:
            return None if told is None else told.inline
        path: FieldPath = ("instructions", "file")
        with self.blaming(path):
            file = resolve_path(told.file, self.base_dir)
            is_file, is_folder = file.is_file(), file.is_dir()
        if not is_file:
            problem = "is a folder" if is_folder else "does not exist"
            raise self.error(f"{file} {problem}: name a text file", path)
        with self.blaming(path):
            text = read_text(file)
        if not text.strip():
            raise self.error(f"{file} is blank: write the instructions", path)
        return text

    @contextmanager
    def blaming(self, path: FieldPath) -> Iterator[None]:
        """Place what a path itself does wrong (a NUL, a name too long) at its setting."""
        try:
            yield
        except ConfigError as error:
            about = "" if error.file is None else f"{error.file} "
            raise self.error(f"{about}{error.message}", path) from error
        except OSError as error:
            raise self.error(
                f"the path cannot be looked at ({error.strerror}): name another", path
            ) from error

    def error(
        self, message: str, path: FieldPath, kind: type[ConfigError] = ConfigError
    ) -> ConfigError:
        """Return an error of ``kind`` that points to the setting at ``path`` in the file.

        A setting that was left to its default is blamed on the mapping that it belongs to.
        """
        path = as_written(AgentConfig, path, self.lines)
        written = path
        while written not in self.lines and written:
            written = written[:-1]
        line = self.lines.get(written)
        return kind(message, file=self.file, line=line, field=field_name(path))

    def placed(self, error: ConfigError, tool_name: str) -> ConfigError:
        """Return an error of a tool, whose field is counted from the tool, with file and line.

        A field that begins with ``model`` or ``execution`` is the agent's own.
        """
        parts = field_path(error.field or "")
        if parts[:1] not in (("model",), ("execution",)):
            parts = ("tools", self._numbers[tool_name], *parts)
        return self.error(error.message, parts, type(error))

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {tool.name: number for number, tool in enumerate(self.config.tools)}


def load_agent(file: str | Path, *, environ: Mapping[str, str] | None = None) -> LoadedAgent:
    """Read, expand and validate an agent's file; nothing is searched, built or called.

    Args:
        file: The YAML file.
        environ: The process's variables; default: ``os.environ``, which is never changed.

    Raises:
        ConfigError: The file cannot be used; it names file, line and field, and lists every
            problem that was found.
    """
    path = _locate(file)
    text = read_text(path)
    environment = read_environment(path.parent, os.environ if environ is None else environ)
    settings = read_settings(text, partial(expand, environment=environment))
    config, problems = _validate(settings)
    if config is None:
        raise problems_error(problems, path)
    agent = LoadedAgent(
        config=config,
        file=path,
        base_dir=path.parent,
        environment=environment,
        lines=settings.lines,
    )
    _refuse_unused(agent)
    return agent


def _refuse_unused(agent: LoadedAgent) -> None:
    """Raise for settings that a model's provider cannot follow, all of them at once."""
    model, judge = agent.config.model, agent.config.evaluations.judge
    problems = [*find_unused_settings(model, model.provider, "model")]
    if judge is not None:
        problems += find_unused_settings(judge, judge.provider, "evaluations.judge")
    found = [agent.error(one.message, field_path(one.field or ""), type(one)) for one in problems]
    for tool in agent.config.vectorstore_tools:
        found += [agent.placed(each, tool.name) for each in find_setting_problems(tool, model)]
    different = {str(problem): problem for problem in found}
    if different:
        raise joined_error(sorted(different.values(), key=lambda problem: problem.line or 0))


def _locate(file: str | Path) -> Path:
    """Return the absolute path of a file that can be an agent's."""
    path = Path(file)
    try:
        path = openable(file).expanduser().absolute()
        size = path.stat().st_size
        is_folder = path.is_dir()
    except (FileNotFoundError, NotADirectoryError):
        message = "does not exist: name an agent's YAML file, or make one with 'holodeck init'"
        raise ConfigError(message, file=path) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(f"cannot be opened ({error}): mend the path", file=path) from error
    if is_folder:
        raise ConfigError("is a folder: name the agent's YAML file in it", file=path)
    if size > MAX_BYTES:
        raise ConfigError(f"is larger than {MAX_BYTES:,} bytes, which no agent needs", file=path)
    return path


def _validate(settings: YamlSettings) -> tuple[AgentConfig | None, list[Problem]]:
    """Return the configuration, or what is wrong with it.

    Nothing is raised from here: pydantic's own error, which holds the input and so perhaps a key,
    must not become the context of ours.
    """
    if settings.problems:
        return None, list(settings.problems)
    if not isinstance(settings.data, dict):
        message = "is empty" if settings.data is None else "holds no settings"
        return None, [Problem(message=f"{message}: an agent is lines of 'key: value'")]
    try:
        return AgentConfig.model_validate(settings.data), []
    except ValidationError as error:
        return None, explain(error.errors(include_url=False), AgentConfig, settings)
