"""What the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

WriteAgent = Callable[[str], Path]


@pytest.fixture
def write_agent(tmp_path: Path) -> WriteAgent:
    """Return a function that writes ``agent.yaml`` and returns its path."""

    def write(text: str) -> Path:
        file = tmp_path / "agent.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return write
