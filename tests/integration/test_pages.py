"""What the pages about agents show, works when it is copied from them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

import holodeck
from holodeck.config.schema import agent_schema
from holodeck.config.templates import make_agent

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("agents.md", "agent-tests.md", "costs.md")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of one language."""
    text = (DOCS / page).read_text("utf-8")
    return [body for kind, body in BLOCK.findall(text) if kind == language]


@pytest.mark.parametrize("page", PAGES)
def test_every_yaml_on_a_page_is_valid(page: str) -> None:
    """An editor marks nothing in it."""
    for body in blocks(page, "yaml"):
        assert list(Draft202012Validator(agent_schema()).iter_errors(yaml.safe_load(body))) == []


@pytest.mark.heavy
@pytest.mark.parametrize("page", PAGES)
def test_every_command_and_script_on_a_page_runs(page: str, tmp_path: Path) -> None:
    """Files are written as the page names them in their first line; then all is run in order."""
    make_agent(tmp_path, "vector", "embedded")
    scripts = []
    for body in blocks(page, "yaml") + blocks(page, "python"):
        name = body.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(body, encoding="utf-8")
        if name == "ask.py":
            scripts.append([sys.executable, name])
    for body in blocks(page, "bash"):
        for line in body.splitlines():
            words = shlex.split(line, comments=True)
            assert words[0] == "holodeck"
            scripts.append([sys.executable, "-m", *words])
    assert scripts
    for script in scripts:
        done = subprocess.run(
            script,
            cwd=tmp_path,
            env=ENVIRONMENT,
            input="",
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, (script, done.stderr)
