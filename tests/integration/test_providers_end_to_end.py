"""Every provider from documents to answers by commands alone, cut off from every other machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

import holodeck
from holodeck.testing import ModelServer

pytestmark = [
    pytest.mark.integration,
    pytest.mark.heavy,
    pytest.mark.slow,
    pytest.mark.xdist_group("providers_end_to_end"),  # each project is built once
]

KEY = "sk-test-CANARY-e2e"
PEOPLE = ("Ann Lee", "Bob Ray", "Cara Fox")
PROVIDERS = ("openai", "azure_openai", "ollama")
VARIABLES = {
    # provider → the variables that reach it, given the server's URL
    "openai": {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "{root}/v1"},
    "azure_openai": {"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_ENDPOINT": "{root}"},
    "ollama": {"OLLAMA_HOST": "{host}"},
}
AGENT = """\
name: people
model: {{provider: {provider}}}
tools:
  - name: graph
    type: vectorstore
    engine: graphrag
    source: docs
    graphrag: {{chunk_size: 2000, chunk_overlap: 0, max_gleanings: 0}}
  - name: plain
    type: vectorstore
    source: docs
"""
# Python runs this first in every process, the build's child included.
GUARD = """\
import ipaddress, sys

def refuse(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host in (None, "", "localhost"):
        return
    try:
        is_here = ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        with open(__file__ + ".refused", "a") as file:
            file.write(f"{host}\\n")
        raise OSError(f"cut off: {host}")

sys.addaudithook(refuse)
"""


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project of one provider whose indexes were built by commands.

    Attributes:
        index: What ``holodeck index --json`` said.
    """

    provider: str
    folder: Path
    server: ModelServer
    index: dict[str, Any]


def environment(folder: Path, provider: str, server: ModelServer) -> dict[str, str]:
    """Return the variables of a machine that has this provider, no tokenizer and no network."""
    ours = Path(holodeck.__file__).parents[1]
    told = {
        name: value.format(root=server.root, host=server.root.removeprefix("http://"))
        for name, value in VARIABLES[provider].items()
    }
    foreign = {name for each in VARIABLES.values() for name in each}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {
        **kept,
        "PYTHONPATH": f"{folder / 'guard'}{os.pathsep}{ours}",
        "TIKTOKEN_CACHE_DIR": str(folder / "no-tokenizers"),
        "DATA_GYM_CACHE_DIR": str(folder / "no-tokenizers"),
        "HOME": str(folder / "home"),
        **told,
    }


def run(folder: Path, provider: str, server: ModelServer, *words: str) -> Any:
    """Run a command that prints JSON, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "holodeck", *words, "--json"],
        cwd=folder,
        env=environment(folder, provider, server),
        capture_output=True,
        check=False,
        timeout=110,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=PROVIDERS)
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """Return a project of each provider in turn, both of its tools indexed."""
    provider = request.param
    folder = tmp_path_factory.mktemp(provider)
    for name in ("docs", "guard", "home", "no-tokenizers"):
        (folder / name).mkdir()
    (folder / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    (folder / "agent.yaml").write_text(AGENT.format(provider=provider), encoding="utf-8")
    for number, name in enumerate(PEOPLE):
        text = f"{name} works for Acme Corp in San Francisco. " * 300
        (folder / "docs" / f"{number}.txt").write_text(text, encoding="utf-8")
    with ModelServer(api_key=None if provider == "ollama" else KEY) as server:
        index = run(folder, provider, server, "index")
        yield Project(provider=provider, folder=folder, server=server, index=index)


def ask(project: Project, *words: str) -> Any:
    return run(project.folder, project.provider, project.server, "search", *words)


@pytest.mark.parametrize("mode", ["local", "global"])
def test_a_search_answers_with_its_sources(project: Project, mode: str) -> None:
    """The same command and the same shape of result, whoever the provider is."""
    result = ask(project, "Who works for Acme Corp?", "--tool", "graph", "--mode", mode)

    assert result["search_mode"] == mode
    assert result["response"]
    assert {source["path"] for source in result["sources"]} <= {"0.txt", "1.txt", "2.txt"}
    assert result["sources"]


def test_the_default_engine_answers_too(project: Project) -> None:
    """Its vectors come from the same provider."""
    result = ask(project, "Who is Cara Fox?", "--tool", "plain")

    assert "Cara Fox" in result["context"]


def test_the_index_holds_what_the_documents_say(project: Project) -> None:
    """Every document was extracted, once; nothing was cut on the way to the model."""
    extracted = [one for one in project.server.requests if one.kind == "extract"]

    for name in PEOPLE:
        assert any(name in one.text for one in extracted)
    assert project.server.cuts == []
    assert len(extracted) == 2 * len(PEOPLE)


def test_prompts_beyond_the_servers_default_have_their_context(project: Project) -> None:
    """Prompts of more than 2,048 tokens carry a size that covers them, one for each run."""
    if project.provider != "ollama":
        pytest.skip("only Ollama is told the size of the context")
    ask(project, "Who works for Acme Corp?", "--tool", "graph", "--mode", "local")
    asked = [one for one in project.server.requests if one.is_chat]
    sizes: dict[bool, set[int]] = {True: set(), False: set()}
    for one in asked:
        is_answer = one.kind in ("local", "map", "reduce")
        sizes[is_answer].add(one.body["options"]["num_ctx"])

    assert max(len(one.text) // 4 for one in asked) > 2048
    assert sizes == {False: {16_384}, True: {32_768}}


def test_nothing_left_the_machine(project: Project) -> None:
    """With an empty tokenizer cache, no process, the build's own included, asked another host."""
    assert not (project.folder / "guard" / "sitecustomize.py.refused").exists()
    assert list((project.folder / "no-tokenizers").iterdir()) == []


def test_the_guard_refuses(project: Project) -> None:
    """What the rule above relies on: another host is refused in a process of this project."""
    done = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 1)"],
        env=environment(project.folder, project.provider, project.server),
        capture_output=True,
        check=False,
        timeout=30,
        encoding="utf-8",
    )
    refused = project.folder / "guard" / "sitecustomize.py.refused"
    said = refused.read_text("utf-8")
    refused.unlink()

    assert "cut off: 192.0.2.1" in done.stderr
    assert said == "192.0.2.1\n"


def test_the_key_is_in_no_file(project: Project) -> None:
    """Not in the index, the cache or the logs."""
    files = [file for file in (project.folder / ".holodeck").rglob("*") if file.is_file()]

    assert len(files) > len(PEOPLE)
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


def test_only_the_providers_own_server_was_asked(project: Project) -> None:
    """Every call had the provider's own address form, and each build asked one word first."""
    beginning = {
        "openai": "/v1/",
        "azure_openai": "/openai/deployments/",
        "ollama": "/api/",
    }[project.provider]

    assert all(one.path.startswith(beginning) for one in project.server.requests)
    # Two for the graph, one for the vectors of the other tool.
    assert project.server.counts["probe"].calls == 3
