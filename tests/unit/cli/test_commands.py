"""The commands that need no index, from their words to their output."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from holodeck.cli import main
from holodeck.cli.init import Provider, Template
from holodeck.config.templates import TEMPLATES
from holodeck.models.llm import PROVIDERS

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """Return a folder with a new agent, where the process now runs."""
    monkeypatch.chdir(tmp_path)
    assert main(["-q", "init"]) == 0
    capsys.readouterr()
    return tmp_path


def test_the_choices_of_init_are_all_there_are() -> None:
    """Copies, kept so that the help need not load the models."""
    assert {str(template) for template in Template} == set(TEMPLATES)
    assert {str(provider) for provider in Provider} == set(PROVIDERS)


def test_init_says_what_it_made_and_what_is_next(tmp_path: Path, capsys: Captured) -> None:
    """The files are the result; the hint is not."""
    folder = tmp_path / "new"

    assert main(["init", str(folder), "--template", "vector"]) == 0

    out, err = capsys.readouterr()
    made = [line.removeprefix("made ") for line in out.splitlines()]
    assert sorted(made) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
    commands = "holodeck validate && holodeck index && holodeck test"
    assert err == f"next: cd {folder} && {commands}\n"

    assert main(["init", str(tmp_path / "o"), "--provider", "openai"]) == 0

    assert "cp .env.example .env, fill it in" in capsys.readouterr().err


def test_init_as_json(tmp_path: Path, capsys: Captured) -> None:
    """One document names the folder and its files."""
    assert main(["init", str(tmp_path / "new"), "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["folder"] == str(tmp_path / "new")
    assert str(tmp_path / "new" / "agent.yaml") in document["files"]


def test_a_new_agent_is_valid(project: Path, capsys: Captured) -> None:
    """``validate`` right after ``init`` is content, and makes nothing."""
    before = sorted(project.rglob("*"))

    assert main(["validate"]) == 0

    assert capsys.readouterr().out.splitlines()[0] == f"ok: {project / 'agent.yaml'}"
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize("words", [["validate", "agent.yaml"], ["validate", "-a", "agent.yaml"]])
@pytest.mark.usefixtures("project")
def test_validate_as_json(words: list[str], capsys: Captured) -> None:
    """The agent may be named either way; the document says what would be used."""
    assert main([*words, "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True
    assert [tool["engine"] for tool in document["tools"]] == ["graphrag"]


def test_validate_lists_everything_at_once(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Paths and keys of every tool, each with its line, in one error."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (project / "agent.yaml").write_text(
        "name: a\nmodel: {provider: openai}\ntools:\n"
        "  - {name: g, engine: graphrag, source: nowhere}\n"
        "  - {name: h, engine: graphrag, source: docs, graphrag: {search_model: {name: m}}}\n",
        encoding="utf-8",
    )

    assert main(["validate", "--json"]) == 2

    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["line"], error["field"]) == (4, "tools[0].source")
    assert error["message"].splitlines()[0] == "3 problems:"
    assert "agent.yaml:2: model.api_key" in error["message"]
    assert "agent.yaml:5: tools[1].graphrag.search_model.api_key" in error["message"]


def test_a_key_in_the_env_file_is_found(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """What the agent's .env says counts for the check as for the work."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = (project / "agent.yaml").read_text(encoding="utf-8")
    text = text.replace("provider: embedded", "provider: openai")
    (project / "agent.yaml").write_text(text, encoding="utf-8")
    assert main(["validate"]) == 2
    assert "API key required for openai" in capsys.readouterr().err

    (project / ".env").write_text("OPENAI_API_KEY=k\n", encoding="utf-8")

    assert main(["validate"]) == 0


@pytest.mark.usefixtures("project")
def test_status_without_an_index(capsys: Captured) -> None:
    """To have no index yet is a state, not an error."""
    assert main(["status"]) == 0
    assert capsys.readouterr().out.startswith("knowledge: not indexed (there is no index yet)\n")

    assert main(["status", "--json"]) == 0
    (tool,) = json.loads(capsys.readouterr().out)["tools"]
    assert (tool["indexed_at"], tool["up_to_date"], tool["counts"]) == (None, False, {})


def test_search_refuses_a_missing_index(project: Path, capsys: Captured) -> None:
    """``--no-index`` builds nothing and says what would."""
    before = sorted(project.rglob("*"))

    assert main(["search", "--no-index", "Who?"]) == 3

    assert "no index yet" in capsys.readouterr().err
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["search", " "], 3, "the question is empty"),
        (["search", "--mode", "drift", "Who?"], 2, "use one of local, global"),
        (["search", "--tool", "other", "Who?"], 2, "the tools are knowledge"),
        (["index", "--tool", "other"], 2, "the tools are knowledge"),
        (["status", "--tool", "other"], 2, "the tools are knowledge"),
    ],
)
def test_what_cannot_be_answered_is_told_before_work(
    words: list[str], code: int, told: str, project: Path, capsys: Captured
) -> None:
    """A wrong word costs no build."""
    before = sorted(project.rglob("*"))

    assert main(words) == code

    assert told in capsys.readouterr().err
    assert sorted(project.rglob("*")) == before


def test_the_schema_accepts_a_new_agent(project: Path, capsys: Captured) -> None:
    """What ``schema`` prints is the schema of what ``init`` makes."""
    assert main(["schema"]) == 0

    schema = json.loads(capsys.readouterr().out)
    jsonschema.validate(
        yaml.safe_load((project / "agent.yaml").read_text(encoding="utf-8")), schema
    )


def test_what_is_logged_follows_option_then_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The phases are said by default, not with -q or ``quiet``; an option wins over the file."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    said = []
    for options, name, execution in (
        ([], "m1", ""),
        (["-q"], "m2", ""),
        ([], "m3", "execution: {quiet: true}\n"),
        (["-v"], "m4", "execution: {quiet: true}\n"),
    ):
        text = (
            f"name: a\nmodel: {{provider: openai, name: {name}}}\n{execution}"
            f"tools: [{{name: tool-{name}, engine: graphrag, source: docs}}]\n"
        )
        (project / "agent.yaml").write_text(text, encoding="utf-8")
        assert main([*options, "validate"]) == 0
        said.append("embedding model" in capsys.readouterr().err)

    assert said == [True, False, False, True]
