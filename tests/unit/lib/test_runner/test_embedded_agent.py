"""Agents without a language model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import holodeck
from holodeck.config.loader import LoadedAgent
from holodeck.lib.test_runner.agent_factory import create_agent
from holodeck.lib.test_runner.embedded_agent import NO_MODEL

AGENT = """\
name: reader
model: {{provider: embedded}}
tools:
  - {{name: knowledge, type: vectorstore, source: docs}}
  - {{name: add, type: function, function: "sums:add"}}
"""


async def test_it_shows_what_every_search_tool_found(
    write_agent: Callable[..., LoadedAgent],
) -> None:
    """The passage is there with its source, and nobody is led to believe that a model spoke."""
    agent = create_agent(write_agent(AGENT))
    await agent.initialize()
    turn = await agent.conversation().ask("Who runs the Orion project?")
    await agent.close()
    assert turn.text.startswith(NO_MODEL)
    assert "Ann Lee runs the Orion project" in turn.text
    assert turn.sources[0].path == "ann.txt"
    assert turn.spent == ()
    assert 'Not called, since that takes a language model: "add"' in turn.text


async def test_it_says_so_where_it_has_no_tool(write_agent: Callable[..., LoadedAgent]) -> None:
    """No tools, no find, and no empty answer."""
    agent = create_agent(write_agent("name: bare\nmodel: {{provider: embedded}}\n"))
    turn = await agent.conversation().ask("Who?")
    assert "no tool that searches documents" in turn.text


def test_it_needs_no_agent_loop(write_agent: Callable[..., LoadedAgent], tmp_path: Path) -> None:
    """Neither the loop's package nor any provider's client is imported."""
    write_agent(AGENT)
    script = (
        "import sys\n"
        "from holodeck import load_agent\n"
        "from holodeck.lib.test_runner.agent_factory import create_agent\n"
        "create_agent(load_agent('agent.yaml')).conversation()\n"
        "print(sorted({'pydantic_ai', 'openai'} & set(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
