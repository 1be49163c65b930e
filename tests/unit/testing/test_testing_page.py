"""The page about testing."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


def test_the_examples_of_the_page_run() -> None:
    """Every Python example runs, one after the other, and its assertions hold."""
    examples = re.findall(r"```python\n(.*?)```", _PAGE.read_text("utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}

    for example in examples:
        exec(compile(example, str(_PAGE), "exec"), names)  # the page is ours

    assert len(examples) == 3
