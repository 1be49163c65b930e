"""The page about messages quotes messages that there are, and leaves out no kind of error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import holodeck
from holodeck import errors

SOURCE = Path(holodeck.__file__).parent
PAGE = (SOURCE.parents[1] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^### `(.+)`$", PAGE, flags=re.MULTILINE)
VARIES = "\0"
"""What stands for a value in the text of an f-string."""


def texts() -> Iterator[str]:
    """Yield every text of the source, with a mark for each value in it."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (
                    part.value if isinstance(part, ast.Constant) else "" for part in node.values
                )
                yield VARIES.join(map(str, parts))


TEXTS = tuple(texts())


def is_said(message: str) -> bool:
    """Tell whether some text holds the message, ``…`` being anything."""
    wanted = re.compile(".*".join(map(re.escape, message.split("…"))), re.DOTALL)
    return any(wanted.search(text) for text in TEXTS)


@pytest.mark.parametrize("message", QUOTED)
def test_a_quoted_message_is_in_the_source(message: str) -> None:
    """Whoever searches the page for a message finds the words that were printed."""
    assert is_said(message)


def test_the_rule_about_messages_could_fail() -> None:
    """Words that nobody says are told from those that somebody does."""
    assert len(QUOTED) > 30
    assert not is_said("this … is said by nobody")


@pytest.mark.parametrize("name", sorted({*errors.__all__} - {"HolodeckError"}))
def test_every_kind_of_error_is_on_the_page(name: str) -> None:
    """A reader who sees the class in Python finds it too."""
    assert re.search(rf"\b{name}\b", PAGE)
