"""Every YAML that users are shown loads, and an editor marks nothing in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from holodeck.config.loader import load_agent
from holodeck.config.schema import agent_schema
from holodeck.config.templates import TEMPLATES, make_agent
from holodeck.models.agent import AgentConfig
from holodeck.models.llm import PROVIDERS
from holodeck.models.test_case import CaseFile

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
]
FILES = sorted(file for room in ("docs", "examples") for file in (ROOT / room).rglob("*.y*ml"))
BLOCK = re.compile(r"^([ ]*)```ya?ml\n(.*?)^[ ]*```", flags=re.DOTALL | re.MULTILINE)
OTHER = {
    "examples/polar/questions.yaml": "questions for the benchmarks and the demo; no configuration",
}
"""File → why it is neither an agent nor test cases."""

MENDED = {"name": "a", "model": {"provider": "openai"}}
"""What a page may leave out where it shows a part."""


def blocks() -> Iterator[Any]:
    """Yield each YAML block of a page, with the page and its line for a name."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield pytest.param(match[2], id=f"{page.relative_to(ROOT).as_posix()}:{line}")


def marked(data: object) -> list[str]:
    """Return what an editor would mark."""
    return [error.message for error in Draft202012Validator(agent_schema()).iter_errors(data)]


def test_there_are_pages_and_files_to_look_at() -> None:
    """The rules below look at something."""
    assert len(list(blocks())) > 5
    assert len(FILES) > 5
    assert [name for name in OTHER if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("text", list(blocks()))
def test_a_block_of_a_page_loads(text: str, write_agent: Callable[[str], Path]) -> None:
    """A whole agent as it is; a part of one with a name and a model before it."""
    data = yaml.safe_load(text)
    assert isinstance(data, dict)
    is_part = not data.keys() >= MENDED.keys()
    if data.keys() == {"test_cases"}:
        CaseFile.model_validate(data)
    whole = {**MENDED, **data} if is_part else data

    assert marked(whole) == []
    agent = load_agent(write_agent(yaml.safe_dump(whole) if is_part else text), environ=Anything())
    assert isinstance(agent.config, AgentConfig)


class Anything(dict[str, str]):
    """Variables of which each has a value."""

    def __missing__(self, name: str) -> str:
        return "https://example.com"

    def get(self, name: str, default: Any = None) -> Any:  # Any: as in a dict
        """Return the value of any variable."""
        return self[name]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_file_loads(file: Path) -> None:
    """An agent's file, or test cases, or it is told above why it is neither."""
    name = file.relative_to(ROOT).as_posix()
    if name in OTHER:
        return
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    if data.keys() == {"test_cases"}:
        assert CaseFile.model_validate(data).test_cases
        return

    assert marked(data) == []
    assert load_agent(file, environ={}).file == file.absolute()


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_new_agent_loads(template: Any, provider: Any, tmp_path: Path) -> None:
    """What ``holodeck init`` writes, for every provider."""
    make_agent(tmp_path, template, provider)
    file = tmp_path / "agent.yaml"

    assert marked(yaml.safe_load(file.read_text(encoding="utf-8"))) == []
    environ = {"AZURE_OPENAI_ENDPOINT": "https://example.com"}
    assert load_agent(file, environ=environ).config.model.provider == provider
