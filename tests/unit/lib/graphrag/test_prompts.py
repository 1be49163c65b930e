"""The library's prompts as templates."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from holodeck.lib.graphrag.prompts import INDEX_PROMPTS, SEARCH_PROMPTS, fill, read_prompts

pytestmark = pytest.mark.unit


def test_text_that_is_put_in_is_never_a_template() -> None:
    """Braces in a document mean nothing; doubled braces of the template become single ones."""
    assert fill("{{a}}: {text}", text="{text} {{x}} {0}") == "{a}: {text} {{x}} {0}"


def test_a_placeholder_without_a_value_is_an_error() -> None:
    """A prompt that asks for what we do not give is not sent with a hole."""
    with pytest.raises(KeyError):
        fill("{text} {other}", text="x")


def test_every_prompt_is_read_as_the_library_holds_it() -> None:
    """What is read from the files equals what an import gives; reading imports nothing."""
    pytest.importorskip("graphrag", reason="needs the extra graphrag")
    ours = read_prompts({**INDEX_PROMPTS, **SEARCH_PROMPTS})
    code = (
        "import importlib, json, sys\n"
        "names = json.loads(sys.stdin.read())\n"
        "print(json.dumps({k: getattr(importlib.import_module('graphrag.prompts.' +"
        " f[:-3].replace('/', '.')), c) for k, (f, c) in names.items()}))\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps({**INDEX_PROMPTS, **SEARCH_PROMPTS}),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert json.loads(child.stdout) == ours
    assert "graphrag.prompts" not in sys.modules
