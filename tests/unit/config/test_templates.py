"""A new agent is whole, or nothing was made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holodeck.config.cases import load_cases
from holodeck.config.loader import load_agent
from holodeck.config.paths import find_path_problems
from holodeck.config.templates import TEMPLATES, TemplateName, make_agent
from holodeck.errors import ConfigError
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.models.llm import PROVIDERS, ProviderName

ENGINES = {"graphrag": "graphrag", "vector": "default"}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_is_an_agent(
    template: TemplateName, provider: ProviderName, tmp_path: Path
) -> None:
    """What is made loads without any variable, has its documents, and is what was asked for."""
    made = make_agent(tmp_path / "new" / "agent", template, provider)

    agent = load_agent(made.folder / "agent.yaml", environ={})
    assert agent.config.model.provider == provider
    assert [tool.engine for tool in agent.config.vectorstore_tools] == [ENGINES[template]]
    assert find_path_problems(agent) == []
    assert len(list((made.folder / "docs").iterdir())) == 4
    assert len(load_cases(agent)) == 2
    assert all(file.is_file() for file in made.files)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_example_of_variables_names_those_of_the_provider(
    provider: ProviderName, tmp_path: Path
) -> None:
    """Its key and its server, in a form that ``.env`` files have; no key in any file."""
    made = make_agent(tmp_path, "graphrag", provider)
    row = PROVIDER_TABLE[provider]

    text = (tmp_path / ".env.example").read_text(encoding="utf-8")
    named = {line.partition("=")[0].strip("# ") for line in text.splitlines() if "=" in line}
    assert {row.key_variable, row.base_variable} - {None} <= named
    assert [line for line in text.splitlines() if re.search(r"[A-Z]=.", line)] == []
    assert all("sk-" not in file.read_text(encoding="utf-8") for file in made.files)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a/ b", "blank"),
        ("a\nb", "line break"),
        ("a\x1b[2J", "control"),
        ("new/-a", "option"),
        ("é" * 128, "longer than 255 bytes"),
    ],
)
def test_an_odd_name_is_refused(
    name: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a shell or a store would stumble over is told, and nothing is made."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=told) as caught:
        make_agent(name, "graphrag", "embedded")

    assert "holodeck init my-agent" in str(caught.value)
    assert str(caught.value).isprintable()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A name that a file has is refused as such."""
    (tmp_path / "a").write_text("mine", encoding="utf-8")

    with pytest.raises(ConfigError, match="is a file"):
        make_agent(tmp_path / "a", "graphrag", "embedded")


def test_the_index_and_keys_stay_out_of_git(tmp_path: Path) -> None:
    """The index is derived and .env holds keys."""
    made = make_agent(tmp_path, "graphrag", "embedded")

    assert (tmp_path / ".gitignore").read_text(encoding="utf-8").split() == [".holodeck/", ".env"]
    assert made.kept_ignore_file is None


@pytest.mark.parametrize("name", ["agent.yaml", "cases.yaml", "docs", ".env.example"])
def test_what_is_there_is_never_overwritten(name: str, tmp_path: Path) -> None:
    """The error names what is in the way, and nothing else was made beside it."""
    (tmp_path / name).write_text("mine", encoding="utf-8")

    with pytest.raises(ConfigError, match="is already there") as caught:
        make_agent(tmp_path, "graphrag", "embedded")

    assert str(tmp_path / name) in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_nothing_half_made_is_left(tmp_path: Path) -> None:
    """A write that fails takes back the files and folders before it."""
    (tmp_path / ".gitignore").symlink_to(tmp_path / "nowhere")  # written last
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))

    for folder in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match="cannot be written"):
            make_agent(folder, "vector", "embedded")

    assert sorted(tmp_path.rglob("*")) == before


def test_a_readme_is_kept(tmp_path: Path) -> None:
    """A project's own is left as it is, and not listed as made."""
    (tmp_path / "README.md").write_text("mine", encoding="utf-8")

    made = make_agent(tmp_path, "graphrag", "embedded")

    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine"
    assert tmp_path / "README.md" not in made.files


@pytest.mark.parametrize(
    ("text", "is_unfit"), [("*.pyc\n", True), ("*.pyc\n.env\n/.holodeck\n", False)]
)
def test_an_ignore_file_is_kept(text: str, is_unfit: bool, tmp_path: Path) -> None:
    """A project's own is left as it is; one that lacks our lines is told of."""
    file = tmp_path / ".gitignore"
    file.write_text(text, encoding="utf-8")

    made = make_agent(tmp_path, "graphrag", "embedded")

    assert file.read_text(encoding="utf-8") == text
    assert made.kept_ignore_file == (file if is_unfit else None)
    assert file not in made.files
