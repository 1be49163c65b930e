"""Expected sources, looked up before a case runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holodeck.config.loader import LoadedAgent
from holodeck.lib.test_runner.expected_sources import find_source_problems
from holodeck.models.test_case import Case


def expecting(*sources: str) -> list[Case]:
    """Return a case that expects these."""
    return [Case(name="a", input="?", expected_sources=sources)]


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("docs/ann.txt", "write 'ann.txt'"),
        ("./ann.txt", "write 'ann.txt'"),
        ("an.txt", "write 'ann.txt'"),
        ("docs/log.pdf, page 2", "write 'log.pdf, page 2'"),
        ("qqqqq", "relative to the source"),
        ("picture.png", "relative to the source"),
    ],
)
def test_a_source_that_no_tool_has_is_told_with_the_nearest(
    source: str, advice: str, write_agent: Callable[..., LoadedAgent], tmp_path: Path
) -> None:
    """What can never be found is refused, and the message says what to write."""
    agent = write_agent()
    (tmp_path / "docs" / "picture.png").write_bytes(b"no document")
    (told,) = find_source_problems(agent, expecting("ann.txt", source))
    assert advice in told
    assert told.count("expected_sources names") == 1


def test_a_file_and_a_place_in_it_are_found(write_agent: Callable[..., LoadedAgent]) -> None:
    """A path, a page and a row of a file that is there are no problem."""
    agent = write_agent()
    found = expecting("ann.txt", "log.pdf, page 2", "log.pdf, row 3")
    assert find_source_problems(agent, found) == []


def test_documents_that_are_elsewhere_prove_nothing(
    write_agent: Callable[..., LoadedAgent], tmp_path: Path
) -> None:
    """Without the source there may still be an index, which nobody opens for this."""
    agent = write_agent()
    shutil.rmtree(tmp_path / "docs")
    assert find_source_problems(agent, expecting("ann.txt")) == []
