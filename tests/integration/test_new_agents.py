"""What ``holodeck init`` makes works as it is, with every provider."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holodeck.cli import main
from holodeck.config.cases import load_cases
from holodeck.config.loader import load_agent
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.models.llm import PROVIDERS, ProviderName
from holodeck.testing import ModelServer, looks_up

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CHECK = (["validate"], ["index"], ["test"])
CASES = 2
ADDRESSES = {"openai": "{root}/v1", "azure_openai": "{root}", "ollama": "{root}"}


def fill_in(folder: Path, provider: ProviderName, server: ModelServer) -> None:
    """Make ``.env`` of ``.env.example`` as its user would: a key and the server's address."""
    row = PROVIDER_TABLE[provider]
    values = {row.base_variable: ADDRESSES[provider].format(root=server.root)}
    if row.key_variable is not None:
        values[row.key_variable] = "any"
    text = (folder / ".env.example").read_text(encoding="utf-8")
    for name, value in values.items():
        text, count = re.subn(rf"(?m)^(# )?{name}=$", f"{name}={value}", text)
        assert count == 1, name
    (folder / ".env").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the process runs: an empty folder, and no variable of a provider is set."""
    monkeypatch.chdir(tmp_path)
    for row in PROVIDER_TABLE.values():
        for name in (row.key_variable, row.base_variable):
            if name is not None:
                monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("template", ["graphrag", "vector"])
def test_without_a_model_it_passes_its_cases(
    template: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file is touched between ``init`` and ``test``; every case passes offline."""
    assert main(["init", ".", "--template", template]) == 0

    assert [main(words) for words in CHECK] == [0] * len(CHECK)

    assert f"{CASES} of {CASES} passed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("provider", "template"),
    [
        (provider, template)
        if template == "vector"
        else pytest.param(provider, template, marks=pytest.mark.heavy)
        for template in ("vector", "graphrag")
        for provider in ADDRESSES
    ],
)
def test_with_variables_in_the_env_file_it_passes_its_cases(
    provider: ProviderName,
    template: str,
    folder: Path,
    model_server: ModelServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All that is filled in is ``.env``, and what it says is used, key and address."""
    assert main(["init", ".", "--provider", provider, "--template", template]) == 0
    fill_in(folder, provider, model_server)
    known = {case.input: str(case.ground_truth) for case in load_cases(load_agent("agent.yaml"))}
    model_server.reply(
        "chat",
        looks_up("knowledge", lambda question: known[question]),
        when=lambda request: bool(request.body.get("tools")),
    )

    assert [main(words) for words in CHECK] == [0] * len(CHECK)

    assert f"{CASES} of {CASES} passed" in capsys.readouterr().out
    assert model_server.counts["embedding"].calls > 0


@pytest.mark.parametrize("provider", [n for n in PROVIDERS if PROVIDER_TABLE[n].key_variable])
def test_an_empty_example_is_told(
    provider: ProviderName, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever copies the example and fills nothing in reads which variable is empty."""
    assert main(["init", ".", "--provider", provider]) == 0
    (folder / ".env").write_text((folder / ".env.example").read_text("utf-8"), encoding="utf-8")

    assert main(["validate"]) == 2

    assert str(PROVIDER_TABLE[provider].key_variable) in capsys.readouterr().err
