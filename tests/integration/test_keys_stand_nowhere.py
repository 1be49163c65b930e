"""A key is in no file, no output and no ``repr``, wherever it was given and whatever goes wrong."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.cli import main
from holodeck.config.loader import load_agent
from holodeck.lib.resources import Resources, resolve_tool
from holodeck.testing import Fault, ModelServer

pytestmark = [pytest.mark.integration, pytest.mark.slow]

IN_FILE, IN_ENVIRONMENT, IN_URL = "sk-CANARY-file", "sk-CANARY-environment", "CANARY-in:url"
SECRETS = (
    IN_FILE,
    IN_ENVIRONMENT,
    IN_URL,
    quote(IN_URL, safe=""),
    base64.b64encode(f"user:{IN_URL}".encode()).decode("ascii"),
)
ECHOES = {
    # what fails → the secrets of the model that is asked, which its server may say back
    "probe": (IN_FILE,),
    "extract": (IN_FILE,),
    "local": (IN_ENVIRONMENT,),
    "embedding": (IN_URL, *SECRETS[3:]),
}
PROVIDERS = ("openai", "azure_openai", "ollama")
QUESTION = "Who works for Acme Corp?"


@dataclass(frozen=True)
class Project:
    """An agent whose three models have their keys from three places."""

    file: Path
    server: ModelServer

    def run(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
        """Return exit code and everything that was printed, at debug level."""
        code = main(["-v", *words])
        out, err = capsys.readouterr()
        return code, out + err

    def files(self) -> list[Path]:
        """Return all files but the one that the user wrote the key into."""
        every = self.file.parent.rglob("*")
        return [path for path in every if path.is_file() and path != self.file]


@pytest.fixture(params=["default", *(pytest.param("graphrag", marks=pytest.mark.heavy),)])
def engine(request: pytest.FixtureRequest) -> str:
    """Return each engine in turn; the graph engine builds in a process of its own."""
    return str(request.param)


@pytest.fixture(params=PROVIDERS)
def project(
    request: pytest.FixtureRequest, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    """Return an agent of each provider, its server, and all variables set."""
    provider = str(request.param)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with ModelServer() as server:
        with_key = server.root.replace("//", f"//user:{quote(IN_URL, safe='')}@")
        for name, value in {
            "OPENAI_API_KEY": IN_ENVIRONMENT,
            "OPENAI_BASE_URL": server.root,
            "AZURE_OPENAI_API_KEY": IN_ENVIRONMENT,
            "AZURE_OPENAI_ENDPOINT": server.root,
            "OLLAMA_HOST": server.root.replace("//", f"//user:{IN_ENVIRONMENT}@"),
        }.items():
            monkeypatch.setenv(name, value)
        graph = (
            "    graphrag:\n"
            f"      indexing_model: {{api_key: {IN_FILE}}}\n"
            f"      embedding_model: {{api_base: '{with_key}'}}\n"
            "      settings_file: true\n"
        )
        plain = f"    embedding_model: {{api_base: '{with_key}', api_key: {IN_FILE}}}\n"
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "a.txt").write_text("Ann Lee works for Acme Corp.", encoding="utf-8")
        file = tmp_path / "agent.yaml"
        file.write_text(
            f"name: a\nmodel: {{provider: {provider}, name: m}}\n"
            f"tools:\n  - name: k\n    source: docs\n    engine: {engine}\n"
            + (graph if engine == "graphrag" else plain),
            encoding="utf-8",
        )
        yield Project(file=file, server=server)


def test_no_command_shows_or_writes_a_key(
    project: Project, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, while and after a server refuses the key and says it back in its error."""
    server = project.server
    printed = []
    for kind, words, end in (
        (None, ("validate",), 0),
        ("probe", ("index",), 3),
        ("extract" if engine == "graphrag" else "embedding", ("index",), 3),
        (None, ("index",), 0),
        (None, ("index", "--json"), 0),
        (None, ("status", "--json"), 0),
        (None, ("search", QUESTION), 0),
        ("local" if engine == "graphrag" else "embedding", ("search", "Who else?"), 3),
        ("local" if engine == "graphrag" else "embedding", ("search", "Who?", "--json"), 3),
    ):
        server.heal()
        if kind is not None:
            server.fault(
                Fault(kind=kind, status=401, message=f"no such key: {' '.join(ECHOES[kind])}")
            )
        code, text = project.run(capsys, *words)
        assert code == end, (words, kind, text)
        assert kind is None or "does not accept the API key" in text
        printed.append(text)

    shown = "\n".join(printed)
    assert "***" in shown  # the server's echo was there, and was cleaned
    assert [secret for secret in SECRETS if secret in shown] == []
    assert len(project.files()) > 2
    assert [
        (path, secret)
        for path in project.files()
        for secret in SECRETS
        if secret.encode() in path.read_bytes()
    ] == []


def test_the_keys_do_reach_the_server(
    project: Project, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise their absence elsewhere would prove nothing."""
    project.run(capsys, "index")
    project.run(capsys, "search", QUESTION)
    sent = {value for request in project.server.requests for value in request.headers.values()}

    assert f"Basic {SECRETS[-1]}" in sent
    if engine == "graphrag":
        # What stands in an address goes before a key, and Ollama's has it in the environment.
        is_ollama = "provider: ollama" in project.file.read_text(encoding="utf-8")
        assert any(IN_FILE in value for value in sent) != is_ollama
        in_variable = base64.b64encode(f"user:{IN_ENVIRONMENT}".encode()).decode("ascii")
        assert any(IN_ENVIRONMENT in value or in_variable in value for value in sent)


def test_no_object_shows_a_key(project: Project) -> None:
    """Neither the loaded agent nor what it becomes has it in its ``repr`` or text."""
    agent = load_agent(project.file)
    tool = agent.tool_config()
    resolved = resolve_tool(tool, agent.config.model)
    resources = Resources(environ=agent.environment)
    access = resources.reach.access(resolved.embedding, "embedding_model")
    embedder = resources.embedder(resolved.embedding, "embedding_model")
    runtime = agent.tool()

    shown = " ".join(
        repr(one) + str(one)
        for one in (agent, tool, resolved, access, embedder, runtime, vars(runtime), resources)
    )

    assert [secret for secret in SECRETS if secret in shown] == []
