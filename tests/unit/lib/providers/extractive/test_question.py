"""Whether a question asks for an overview."""

from __future__ import annotations

import pytest

from holodeck.lib.providers.extractive.question import is_about_everything

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What are the main themes?", True),
        ("Summarize the documents.", True),
        ("What is this about?", True),
        ("Who is he?", False),
        ("What are the main themes of Dickens?", False),
        ("", False),
        ("这些文档的主要主题是什么？", True),
        ("总结李雷的工作", False),
        ("谁领导了猎户座项目？", False),
    ],
)
def test_an_overview_question_names_nothing_to_look_for(question: str, expected: bool) -> None:
    """Only a question without a thing of its own is one about everything."""
    assert is_about_everything(question) is expected
