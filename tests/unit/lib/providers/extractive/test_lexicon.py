"""What is known of single words."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from holodeck.lib.providers.extractive.lexicon import is_common, is_function_word, tag

pytestmark = pytest.mark.unit


def test_tags_are_those_of_the_package() -> None:
    """Reading the lexicon's file ourselves gives what the package that ships it gives."""
    words = ["the", "Brown", "brown", "Mark", "scott", "1991)", "naïve", "!"]
    script = (
        "import json, sys; from textblob.en import lexicon\n"
        "print(json.dumps([lexicon.get(word) or '' for word in json.loads(sys.argv[1])]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, json.dumps(words)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert [tag(word) for word in words] == json.loads(result.stdout)


@pytest.mark.parametrize(
    ("word", "common", "function"),
    [
        ("When", True, True),
        ("Brown", True, False),
        ("Scott", False, False),
        ("Reindexing", True, False),
        ("猎户座", False, False),
    ],
)
def test_a_common_word_is_told_from_a_name(word: str, common: bool, function: bool) -> None:
    """A word is common if it has a meaning when written small, whatever its first letter."""
    assert (is_common(word), is_function_word(word)) == (common, function)
