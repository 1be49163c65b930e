"""Whatever a file holds, it loads or is answered by one kind of error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holodeck.config.loader import load_agent
from holodeck.errors import ConfigError

AGENT = """\
name: ${NAME:-a}
model: &model
  provider: openai
  temperature: 0.5
  api_key: "k"
tools:
  - name: docs
    source: docs/
    engine: graphrag
    graphrag:
      community_level: 1
      entity_types: [person, ship]
      search_model:
        <<: *model
        name: x
"""
MARKS = ("${", "}", "${A}", "$$", ":", "- ", "[", "]", "{", "&a ", "*a", "*model", "<<: ", "!!x ")
BREAKS = (
    "\n",
    "\n  ",
    "\t",
    "'",
    '"',
    "|\n",
    "# ",
    "? ",
    "---\n",
    "%YAML 3\n",
    "\0",
    "\ufeff",
    "é",
)
VALUES = ("null", "1e999", "0x1g", ".nan", "2024-01-99", "true: ", "1: ", "=", "0o9", "1:99:99")
PIECES = st.sampled_from((*MARKS, *BREAKS, *VALUES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one folder for all examples: each writes its file anew."""
    return tmp_path_factory.mktemp("agents")


def load(folder: Path, content: bytes) -> None:
    """Load the file, where the one kind of error is allowed."""
    file = folder / "agent.yaml"
    file.write_bytes(content)
    try:
        load_agent(file, environ={"A": "x"})
    except ConfigError as error:
        assert error.message  # both ends are right; neither may be another error


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(AGENT)), st.integers(0, 6), PIECES), min_size=1, max_size=4
    )
)
def test_an_edited_agent_loads_or_is_a_config_error(
    folder: Path, edits: list[tuple[int, int, str]]
) -> None:
    """A slip of the fingers anywhere in a good file never ends in a trace."""
    text = AGENT
    for place, length, piece in edits:
        text = text[:place] + piece + text[place + length :]

    load(folder, text.encode())


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_load_or_are_a_config_error(folder: Path, content: bytes) -> None:
    """A file of something else never ends in a trace."""
    load(folder, content)
