"""An agent's file, loaded and checked for a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from holodeck.cli.logs import start_logging
from holodeck.cli.session import Session
from holodeck.errors import ConfigError

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.resources import Resources

__all__ = [
    "check_agent",
    "check_talking_agent",
    "check_whole_agent",
    "load",
    "with_what_is_left",
]


def load(
    session: Session, file: str, *, says_phases: bool = False, max_cost: float | None = None
) -> LoadedAgent:
    """Load an agent; where no option says how much to log, its file does, then the command.

    Args:
        session: This call of the command line.
        file: The agent's file.
        says_phases: Whether the command says what it spends time or money on.
        max_cost: The cost cap that goes before the file's.

    Raises:
        ConfigError: The file cannot be used.
    """
    from holodeck.config.loader import load_agent

    agent = load_agent(file)
    execution = agent.config.execution
    if session.verbosity == "normal":
        if execution.verbose or execution.quiet:
            session.verbosity = "verbose" if execution.verbose else "quiet"
        elif says_phases:
            session.verbosity = "phases"
        start_logging(session.verbosity)
    return agent if max_cost is None else agent.costing_at_most(max_cost)


def with_what_is_left(agent: LoadedAgent, spent: float) -> LoadedAgent:
    """Return the agent with the cap that is left after ``spent`` USD: one run has one cap."""
    cap = agent.config.execution.max_cost
    # A cap of nothing stops at the first call that costs something, as it must.
    return agent if cap is None else agent.costing_at_most(max(cap - spent, 1e-12))


def check_agent(agent: LoadedAgent, tool_name: str | None = None, *, to_write: bool = True) -> None:
    """Find out what would keep the agent's tools from working, without any work.

    Args:
        agent: The agent.
        tool_name: Look only at what concerns this tool; default: all of them.
        to_write: Whether the indexes must be writable; a build on demand finds out by itself.

    Raises:
        ConfigError: Lists every path, key and package that is missing.
    """
    _raise_all(_tool_problems(agent, tool_name, to_write=to_write))


def check_talking_agent(agent: LoadedAgent) -> None:
    """Find out what would keep the agent from a conversation, without any work.

    Raises:
        ConfigError: Lists everything, the tools' first.
    """
    resources = _resources(agent)
    own = partial(resources.check, agent.config.model, "model")
    _raise_all([*_tool_problems(agent, None, to_write=False), *_found_by(agent, [own])])


def check_whole_agent(agent: LoadedAgent, *, to_write: bool = True) -> None:
    """Find out what would keep the agent, its judge or its test cases from working.

    Args:
        agent: The agent.
        to_write: As for ``check_agent``.

    Raises:
        ConfigError: Lists everything, the tools' first.
    """
    config, resources = agent.config, _resources(agent)
    has_cases = bool(config.test_cases) or config.test_cases_file is not None
    models = {"model": config.model, "evaluations.judge": config.evaluations.judge}
    checks: list[Callable[[], object]] = []
    for where, model in models.items():
        if model is not None:
            checks.append(partial(resources.check, model, where))
            if has_cases:
                checks.append(partial(resources.reach.require_price, model, "chat", where))
    if has_cases:
        checks.append(lambda: _refuse_cases(agent))
    tools = _tool_problems(agent, None, to_write=to_write, is_asked=has_cases)
    _raise_all([*tools, *_found_by(agent, checks)])


def _refuse_cases(agent: LoadedAgent) -> None:
    """Refuse the agent if a test case cannot be judged as it stands.

    Raises:
        ConfigError: Lists all problems.
    """
    from holodeck.config.cases import load_cases
    from holodeck.lib.test_runner.executor import find_case_problems
    from holodeck.lib.test_runner.expected_sources import find_source_problems

    cases, tools = load_cases(agent), [tool.name for tool in agent.config.tools]
    problems = [
        f"test case {case.name!r}: {problem}"
        for case in cases
        for problem in find_case_problems(case, agent.config.evaluations, tools)
    ]
    problems += find_source_problems(agent, cases)
    _raise_all(agent.error(problem, ("test_cases",)) for problem in problems)


def _resources(agent: LoadedAgent) -> Resources:
    from holodeck.lib.resources import Resources

    return Resources(agent.config.execution, environ=agent.environment)


def _found_by(agent: LoadedAgent, checks: Sequence[Callable[[], object]]) -> Iterator[ConfigError]:
    """Yield what the checks raise, with its place in the file."""
    from holodeck.config.problems import field_path

    for check in checks:
        try:
            check()
        except ConfigError as error:
            if error.file is None:
                error = agent.error(error.message, field_path(error.field or ""), type(error))
            yield error


def _raise_all(errors: Iterable[ConfigError]) -> None:
    from holodeck.config.problems import joined_error

    distinct = {str(error): error for error in errors}
    if distinct:
        raise joined_error(list(distinct.values()))


def _tool_problems(
    agent: LoadedAgent, tool_name: str | None, *, to_write: bool, is_asked: bool = False
) -> Iterator[ConfigError]:
    from holodeck.config.paths import find_path_problems
    from holodeck.tools.checks import find_model_problems

    yield from find_path_problems(agent, tool_name, to_write=to_write)
    for tool in agent.config.vectorstore_tools:
        if tool_name in (None, tool.name):
            for error in find_model_problems(
                tool,
                agent_model=agent.config.model,
                execution=agent.config.execution,
                environ=agent.environment,
                is_asked=is_asked,
            ):
                yield agent.placed(error, tool.name)
    if tool_name is None:
        yield from _function_problems(agent)


def _function_problems(agent: LoadedAgent) -> Iterator[ConfigError]:
    """Yield what is wrong with the Python functions; none of their code runs."""
    if not agent.config.function_tools:
        return
    from holodeck.lib.test_runner.functions import find_function_problem

    for number, tool in enumerate(agent.config.tools):
        if tool.type == "function":
            problem = find_function_problem(tool, agent.base_dir)
            if problem is not None:
                yield agent.error(problem, ("tools", number, "function"))
