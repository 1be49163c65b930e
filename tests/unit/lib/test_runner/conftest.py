"""A small agent over a loopback server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holodeck.config.loader import LoadedAgent, load_agent
from holodeck.testing import ModelServer
from holodeck.testing.project import write_documents

AGENT = """\
name: analyst
model: {{provider: openai, name: any, api_base: "{url}", api_key: secret}}
instructions: {{inline: Answer from the documents.}}
execution: {{max_retries: {retries}, llm_timeout: 5, max_model_calls: 4, max_tool_calls: 3}}
tools:
  - name: knowledge
    type: vectorstore
    description: Who runs which project
    source: docs
    embedding_model: {{provider: embedded}}
  - name: add
    type: function
    function: sums:add
"""

SUMS = '''\
def add(first: int, second: int) -> int:
    """Add two whole numbers."""
    return first + second
'''


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model's server that says nothing of its own."""
    with ModelServer() as running:
        yield running


@pytest.fixture
def write_agent(tmp_path: Path, server: ModelServer) -> Callable[..., LoadedAgent]:
    """Write documents, a function and the agent's file, and load it."""

    def write(text: str = AGENT, retries: int = 0) -> LoadedAgent:
        write_documents(tmp_path)
        (tmp_path / "sums.py").write_text(SUMS, encoding="utf-8")
        file = tmp_path / "agent.yaml"
        file.write_text(text.format(url=server.url, retries=retries), encoding="utf-8")
        return load_agent(file, environ={})

    return write
