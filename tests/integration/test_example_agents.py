"""The example agents pass their own test cases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import holodeck
from holodeck.testing import ModelServer, looks_up

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CASES = yaml.safe_load((EXAMPLES / "polar" / "cases.yaml").read_text("utf-8"))["test_cases"]
KEPT = {source for case in CASES for source in case["expected_sources"]}

VARIABLES = {
    "openai": {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": "{root}/v1"},
    "azure_openai": {"AZURE_OPENAI_API_KEY": "key", "AZURE_OPENAI_ENDPOINT": "{root}"},
    "ollama": {"OLLAMA_HOST": "{root}"},
}


def examples(folder: Path) -> Path:
    """Copy the examples, of the documents only those that the cases ask for."""
    copied = folder / "examples"
    shutil.copytree(EXAMPLES, copied, ignore=shutil.ignore_patterns(".holodeck"))
    docs = copied / "polar" / "docs"
    for file in docs.rglob("*"):
        if file.is_file() and file.relative_to(docs).as_posix() not in KEPT:
            file.unlink()
    return copied


def run(folder: Path, *words: str, **variables: str) -> dict[str, Any]:
    """Run ``holodeck test`` and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "holodeck", "test", *words, "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1]), **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@pytest.mark.heavy
@pytest.mark.parametrize("provider", list(VARIABLES))
def test_an_agent_of_each_provider_passes_over_its_wire(provider: str, tmp_path: Path) -> None:
    """Index, conversation with the tool, and verdicts, against a server of the vendor's format."""
    folder = examples(tmp_path)
    with ModelServer() as server:
        answer = looks_up("knowledge", "That is what the documents say.")
        server.reply("chat", answer, when=lambda request: bool(request.body.get("tools")))
        told = {name: text.format(root=server.root) for name, text in VARIABLES[provider].items()}
        (result,) = run(folder, f"agents/{provider}.yaml", **told)["runs"]
    assert result["counts"]["passed"] == len(CASES)


@pytest.mark.heavy
def test_the_engines_are_compared_without_a_model(tmp_path: Path) -> None:
    """Both engines answer the same cases offline; the embedded agents pass."""
    folder = examples(tmp_path)
    words = ("agents/vector.yaml", "--compare", "default", "--compare", "graphrag")
    runs = run(folder, *words)["runs"]
    assert [each["counts"]["passed"] for each in runs] == [len(CASES), len(CASES)]
