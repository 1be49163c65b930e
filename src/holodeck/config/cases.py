"""The test cases of an agent: those in its file and those in the file that it names."""

from __future__ import annotations

from functools import partial

from pydantic import ValidationError

from holodeck.config.environment import expand
from holodeck.config.files import read_text
from holodeck.config.lines import read_settings
from holodeck.config.loader import LoadedAgent
from holodeck.config.messages import explain
from holodeck.config.problems import Problem, problems_error
from holodeck.errors import ConfigError
from holodeck.lib.paths import resolve_path
from holodeck.models.test_case import Case, CaseFile

__all__ = ["load_cases"]


def load_cases(agent: LoadedAgent) -> tuple[Case, ...]:
    """Return all test cases, those of the agent's own file first.

    Raises:
        ConfigError: The file cannot be used, two cases share a name, or there is none.
    """
    cases = [*agent.config.test_cases, *_cases_of_file(agent)]
    if not cases:
        raise ConfigError(
            "the agent has no test cases: add some under 'test_cases:', or name a file with "
            "'test_cases_file:'",
            file=agent.file,
        )
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(
            f"several test cases are named {', '.join(twice)}: reports could not tell them apart; "
            "rename them",
            file=agent.file,
            field="test_cases",
        )
    return tuple(cases)


def _cases_of_file(agent: LoadedAgent) -> tuple[Case, ...]:
    named = agent.config.test_cases_file
    if named is None:
        return ()
    file = resolve_path(named, agent.base_dir)
    if not file.is_file():
        problem = "is a folder" if file.is_dir() else "does not exist"
        raise agent.error(f"{file} {problem}: name a YAML file of test cases", ("test_cases_file",))
    settings = read_settings(read_text(file), partial(expand, environment=agent.environment))
    problems: list[Problem] = list(settings.problems)
    if not problems:
        try:
            return CaseFile.model_validate(settings.data).test_cases
        except ValidationError as error:
            problems = explain(error.errors(include_url=False), CaseFile, settings)
    raise problems_error(problems, file)
