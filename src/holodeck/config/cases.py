"""The test cases of an agent: those in its file and those in the file that it names."""

from __future__ import annotations

from collections import Counter
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
    names = Counter(case.name for case in cases)
    twice = sorted(name for name, number in names.items() if number > 1)
    if twice:
        place = "test_cases" if agent.config.test_cases else "test_cases_file"
        raise agent.error(
            f"several test cases are named {', '.join(twice)}: reports could not tell them apart; "
            "rename them",
            (place,),
        )
    return tuple(cases)


def _cases_of_file(agent: LoadedAgent) -> tuple[Case, ...]:
    named = agent.config.test_cases_file
    if named is None:
        return ()
    with agent.blaming(("test_cases_file",)):
        file = resolve_path(named, agent.base_dir)
        is_file, is_folder = file.is_file(), file.is_dir()
    if not is_file:
        problem = "is a folder" if is_folder else "does not exist"
        raise agent.error(f"{file} {problem}: name a YAML file of test cases", ("test_cases_file",))
    settings = read_settings(read_text(file), partial(expand, environment=agent.environment))
    problems: list[Problem] = list(settings.problems)
    if not problems:
        try:
            return CaseFile.model_validate(settings.data).test_cases
        except ValidationError as error:
            problems = explain(error.errors(include_url=False), CaseFile, settings)
    raise problems_error(problems, file)
