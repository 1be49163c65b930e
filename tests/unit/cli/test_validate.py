"""What keeps an agent from working that its file alone does not show: ``validate`` finds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holodeck.cli import main

MODEL = "name: a\nmodel:\n  provider: {provider}\n"  # lines 1-3
TOOL = "tools:\n  - name: g\n    source: docs\n    engine: graphrag\n"  # lines 4-7
OPENAI = MODEL.format(provider="openai") + TOOL
AZURE = MODEL.format(provider="azure_openai") + TOOL
OLLAMA = MODEL.format(provider="ollama") + TOOL
EMBEDDED = MODEL.format(provider="embedded") + TOOL
SECOND = (
    "  - name: h\n    source: docs\n    engine: graphrag\n    graphrag:\n      storage_dir: i\n"
)
KEY = {"OPENAI_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k"}
VARIABLES = (
    *KEY,
    "OPENAI_BASE_URL",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_VERSION",
    "OLLAMA_HOST",
)


@dataclass(frozen=True)
class Unfit:
    """An agent that loads and cannot work: where that is said, and how."""

    text: str
    line: int
    setting: str
    said: str
    environ: dict[str, str] = field(default_factory=dict)


def stored(place: str) -> str:
    return EMBEDDED + f"    graphrag:\n      storage_dir: {place}\n"


UNFIT = {
    "no key": Unfit(OPENAI, 2, "model.api_key", "variable OPENAI_API_KEY is not set"),
    "an empty key": Unfit(
        OPENAI, 2, "model.api_key", "OPENAI_API_KEY is empty", {"OPENAI_API_KEY": ""}
    ),
    "a blank key": Unfit(
        OPENAI, 2, "model.api_key", "OPENAI_API_KEY is empty", {"OPENAI_API_KEY": " \n"}
    ),
    "a key that was not replaced": Unfit(
        OPENAI,
        2,
        "model.api_key",
        "OPENAI_API_KEY is empty or a variable that was not replaced",
        {"OPENAI_API_KEY": "${OPENAI_API_KEY}"},
    ),
    "a key that no request can carry": Unfit(
        OPENAI,
        2,
        "model.api_key",
        "OPENAI_API_KEY holds a character that no request can carry",
        {"OPENAI_API_KEY": "sk-CANÁRY"},
    ),
    "no key of Azure's": Unfit(
        AZURE,
        2,
        "model.api_key",
        "AZURE_OPENAI_API_KEY is not set",
        {"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"},
    ),
    "no address of Azure's": Unfit(AZURE, 2, "model.api_base", "set model.endpoint or", KEY),
    "a broken address of OpenAI's": Unfit(
        OPENAI,
        2,
        "model.api_base",
        "the environment variable OPENAI_BASE_URL must begin with http",
        KEY | {"OPENAI_BASE_URL": "box:8000"},
    ),
    "a broken address of Azure's": Unfit(
        AZURE,
        2,
        "model.api_base",
        "the environment variable AZURE_OPENAI_ENDPOINT names no possible host",
        KEY | {"AZURE_OPENAI_ENDPOINT": "https://CANARY..azure.com"},
    ),
    "a broken address of Ollama's": Unfit(
        OLLAMA,
        2,
        "model.api_base",
        "the environment variable OLLAMA_HOST has a host or port that cannot be read",
        {"OLLAMA_HOST": "user:CANARY@box:99999"},
    ),
    "no key of a tool's own model": Unfit(
        EMBEDDED + "    graphrag:\n      search_model:\n        provider: openai\n",
        9,
        "tools[0].graphrag.search_model.api_key",
        "OPENAI_API_KEY is not set",
    ),
    "no key of the agent's own model": Unfit(
        OPENAI
        + "    graphrag:\n"
        + "".join(
            f"      {role}: {{provider: embedded}}\n"
            for role in ("indexing_model", "search_model", "embedding_model")
        ),
        2,
        "model.api_key",
        "OPENAI_API_KEY is not set",
    ),
    "no key of the judge's": Unfit(
        EMBEDDED + "evaluations:\n  judge:\n    provider: openai\n",
        9,
        "evaluations.judge.api_key",
        "OPENAI_API_KEY is not set",
    ),
    "test cases that are not there": Unfit(
        EMBEDDED + "test_cases_file: away.yaml\n", 8, "test_cases_file", "does not exist"
    ),
    "test cases of one name": Unfit(
        EMBEDDED + "test_cases:\n  - {name: x, input: a}\n  - {name: x, input: b}\n",
        8,
        "test_cases",
        "several test cases are named x",
    ),
    "documents that are not there": Unfit(
        EMBEDDED.replace("source: docs", "source: away"), 6, "tools[0].source", "not found"
    ),
    "instructions that are not there": Unfit(
        EMBEDDED + "instructions:\n  file: away.md\n", 9, "instructions.file", "does not exist"
    ),
    "instructions of a name too long": Unfit(
        EMBEDDED + f"instructions:\n  file: {'x' * 300}\n", 9, "instructions.file", "too long"
    ),
    "an index at the root": Unfit(stored("/"), 9, "tools[0].graphrag.storage_dir", "or holds the"),
    "an index over its source": Unfit(
        stored("docs"), 9, "tools[0].graphrag.storage_dir", "is or holds the documents"
    ),
    "an index above its source": Unfit(
        stored("."), 9, "tools[0].graphrag.storage_dir", "is or holds the documents"
    ),
    "an index in a file's place": Unfit(
        stored("docs/a.txt/i"), 9, "tools[0].graphrag.storage_dir", "is a file"
    ),
    "two indexes in one folder": Unfit(
        stored("i") + "      chunk_size: 400\n" + SECOND,
        15,
        "tools[1].graphrag.storage_dir",
        "overlaps that of tool 'g'",
    ),
    "an index in another": Unfit(
        stored("i/g") + SECOND, 14, "tools[1].graphrag.storage_dir", "overlaps that of tool 'g'"
    ),
    "a cache over the documents": Unfit(
        EMBEDDED + "execution:\n  cache_dir: docs\n", 9, "execution.cache_dir", "or holds the"
    ),
    "a case that expects a tool there is not": Unfit(
        EMBEDDED + "test_cases:\n  - {name: c, input: Who, expected_tools: [gg]}\n",
        8,
        "test_cases",
        "test case 'c': expected_tools names 'gg', and the agent's tools are g",
    ),
    "a case with nothing to compare with": Unfit(
        EMBEDDED + "test_cases:\n  - {name: c, input: Who, evaluations: [{metric: equality}]}\n",
        8,
        "test_cases",
        "test case 'c': metric: equality has nothing to compare with: write ground_truth",
    ),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_what_would_fail_later_fails_now(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, file, line and field, the mend, no secret, and nothing made."""
    unfit = UNFIT[kind]
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in unfit.environ.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Ann runs Orion.", encoding="utf-8")
    file = tmp_path / "agent.yaml"
    file.write_text(unfit.text, encoding="utf-8")

    code = main(["-q", "validate", str(file)])

    said = capsys.readouterr().err
    assert code == 2
    assert said.startswith(f"error: {file}:{unfit.line}: {unfit.setting}: ")
    assert unfit.said in said
    assert "CAN" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent.yaml", "docs"]


@pytest.mark.parametrize("kind", ["no key", "an index at the root", "a broken address of OpenAI's"])
@pytest.mark.parametrize("words", [["index"], ["search", "Who runs Orion?", "-a"]])
def test_the_commands_that_work_say_the_same(
    kind: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``index`` and ``search`` begin with what ``validate`` does: nothing is found half-way."""
    unfit = UNFIT[kind]
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in unfit.environ.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "docs").mkdir()
    file = tmp_path / "agent.yaml"
    file.write_text(unfit.text, encoding="utf-8")
    ends = [
        (main(["-q", *command, str(file)]), capsys.readouterr().err)
        for command in (["validate"], words)
    ]

    assert ends[0][0] == 2
    assert ends[0] == ends[1]
