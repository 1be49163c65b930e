"""What the pages show works when it is typed as it stands there.

A block whose first line is ``# NAME`` is written to that file. Then the page's commands are carried
out in their order, and a script ``ask….py`` where it stands. A server on loopback stands in for
every vendor's. ``test_documented_yaml.py`` looks at all YAML, also at what is only a part.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from holodeck.cli import main
from holodeck.config.templates import make_agent
from holodeck.testing import ModelServer, looks_up

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
HEAVY = ROOT / "examples" / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"# ([\w.-]+\.(?:py|yaml))")
ANSWER = "The Great Eastern landed the cable; William Thomson invented the mirror galvanometer."

NOT_RUN: Mapping[str, str] = {
    "make": "the targets run these tests; .ci/clean-clone-check.sh runs both in a fresh clone",
    "python3": "makes an environment",
    ".venv/bin/pip": "installs packages from the network",
    "source": "enters the environment",
    "GRAPHRAG_API_KEY=…": "test_library_command_line.py runs it with the names of a test",
}
"""First word of a command → why it is not carried out here."""


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield language and text of a page's blocks."""
    for match in BLOCK.finditer(page.read_text("utf-8")):
        yield match[1], match[2]


def commands(language: str, body: str) -> list[str]:
    """Return the commands of a block: all lines, or those behind a prompt."""
    if language == "bash":
        return body.splitlines()
    if language == "console":
        return [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ")]
    return []


def carry_out(command: str) -> None:
    """Do what a shell would do with a command."""
    match shlex.split(command, comments=True):
        case []:
            pass
        case ["holodeck", *words]:
            assert main(words) == 0, command
        case ["cd", folder]:
            os.chdir(folder)
        case ["cp", source, target]:
            shutil.copyfile(source, target)
        case ["rm", file]:
            Path(file).unlink()
        case [word, *_]:
            assert word in NOT_RUN, command


def is_run(page: Path) -> bool:
    """Tell whether a page shows anything that is carried out."""
    return any(commands(*each) for each in blocks(page))


@pytest.fixture
def follow(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], None]:
    """Return what follows a page, in a folder of its own."""
    answer = looks_up("knowledge", ANSWER)
    model_server.reply("chat", answer, when=lambda request: bool(request.body.get("tools")))
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)  # and back again afterwards, wherever a page went

    def through(page: Path) -> None:
        for language, body in blocks(page):
            named = NAME.fullmatch(body.partition("\n")[0])
            if named is not None:
                Path(named[1]).write_text(body, encoding="utf-8")
                if named[1].startswith("ask"):
                    runpy.run_path(named[1], run_name="__main__")
            for command in commands(language, body):
                carry_out(command)

    return through


@pytest.mark.parametrize(
    "page", [page for page in PAGES if is_run(page)], ids=lambda page: page.name
)
def test_a_page_works_as_it_stands(page: Path, follow: Callable[[Path], None]) -> None:
    """Every command ends with 0 and every script to its end, beside the documents of ``init``."""
    make_agent(".", "vector", "embedded")

    follow(page)


@pytest.mark.heavy
def test_the_page_of_the_examples_works(follow: Callable[[Path], None]) -> None:
    """Its commands name the examples as they lie in a checkout."""
    ignored = shutil.ignore_patterns(".holodeck")
    shutil.copytree(ROOT / "examples", "examples", ignore=ignored)

    follow(HEAVY)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_script_is_followed(page: Path) -> None:
    """A block of Python names its file, so that it is run or imported."""
    if page.name == "testing.md":
        return  # test_testing_page.py runs its blocks, one after the other
    scripts = [body for language, body in blocks(page) if language == "python"]

    assert [body for body in scripts if not NAME.match(body)] == []


def test_most_pages_are_followed() -> None:
    """The rules above look at something, and nothing is left out for a reason that is gone."""
    shown = {
        word
        for page in [*PAGES, HEAVY]
        for each in blocks(page)
        for command in commands(*each)
        for word in shlex.split(command, comments=True)[:1]
    }

    assert sum(map(is_run, PAGES)) >= 8
    assert NOT_RUN.keys() <= shown
