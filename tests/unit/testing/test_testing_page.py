"""The page about testing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from holodeck.config.loader import load_agent
from holodeck.testing import ModelServer

_PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


AGENT = """\
name: a
model: {{provider: openai, name: any, api_base: "{url}", api_key: any}}
tools: [{{name: knowledge, source: docs}}]
"""


def test_the_examples_of_the_page_run(tmp_path: Path, model_server: ModelServer) -> None:
    """Every Python example runs, one after the other, and its assertions hold."""
    examples = re.findall(r"```python\n(.*?)```", _PAGE.read_text("utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}  # Any: whatever they define

    for example in examples:
        exec(compile(example, str(_PAGE), "exec"), names)  # the page is ours

    assert len(examples) == 4
    (tmp_path / "agent.yaml").write_text(AGENT.format(url=model_server.url), encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ann.txt").write_text("Ann runs Orion.", encoding="utf-8")
    names["test_it_looks_things_up"](load_agent(tmp_path / "agent.yaml"), model_server)
