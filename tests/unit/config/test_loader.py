"""An agent's file becomes a configuration that knows where it came from."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from holodeck.config.loader import MAX_BYTES, load_agent
from holodeck.errors import ConfigError, MissingKeyError
from holodeck.models.llm import LLMProvider

WriteAgent = Callable[[str], Path]

HEAD = "name: a\nmodel: {provider: openai}\n"
TWO_TOOLS = HEAD + "tools:\n  - {name: one, source: x}\n  - {name: two, source: y}\n"


def test_an_agent_is_loaded_with_its_folder(write_agent: WriteAgent, tmp_path: Path) -> None:
    """Paths in the file count from the file's folder, wherever the process runs."""
    agent = load_agent(write_agent(HEAD), environ={})

    assert agent.config.name == "a"
    assert agent.config.model == LLMProvider(provider="openai")
    assert agent.file == tmp_path / "agent.yaml"
    assert agent.base_dir == tmp_path


def test_a_relative_file_counts_from_the_working_directory(
    write_agent: WriteAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later change of the working directory moves nothing."""
    write_agent(HEAD)
    monkeypatch.chdir(tmp_path)

    assert load_agent("agent.yaml", environ={}).base_dir == tmp_path


def test_a_variable_becomes_what_its_field_holds(write_agent: WriteAgent) -> None:
    """A number stays a number and a text a text, whatever the variable looks like."""
    text = (
        "name: ${NUMBER}\n"
        "model:\n"
        "  name: ${NO}\n"
        "  temperature: ${FLOAT}\n"
        "  max_tokens: '${NUMBER}'\n"
        "  api_key: ${NUMBER}\n"
        "execution:\n"
        "  cache: ${NO}\n"
        "  index_timeout: ${NULL}\n"
    )
    environ = {"NUMBER": "123", "NO": "no", "FLOAT": "0.2", "NULL": "null"}

    agent = load_agent(write_agent(text), environ=environ)

    assert agent.config.name == "123"
    assert agent.config.model.name == "no"
    assert agent.config.model.temperature == 0.2
    assert agent.config.model.max_tokens == 123
    assert agent.config.model.api_key == SecretStr("123")
    assert agent.config.execution.cache is False
    assert agent.config.execution.index_timeout is None


def test_a_variable_in_quotes_may_stand_in_braces(write_agent: WriteAgent) -> None:
    """The mend that the error names works."""
    agent = load_agent(
        write_agent('name: a\nmodel: {name: "${MODEL}"}\n'), environ={"MODEL": "gpt-x"}
    )

    assert agent.config.model.name == "gpt-x"


def test_the_process_wins_over_the_env_file(write_agent: WriteAgent, tmp_path: Path) -> None:
    """What .env says counts only where the process says nothing, and never reaches the process."""
    (tmp_path / ".env").write_text("MODEL=from-file\nTEXT='Zoë # 1'\n", encoding="utf-8")
    file = write_agent('name: "${TEXT}"\nmodel: {name: "${MODEL}"}\n')

    agent = load_agent(file, environ={"MODEL": "from-process"})

    assert (agent.config.name, agent.config.model.name) == ("Zoë # 1", "from-process")
    assert load_agent(file, environ={}).config.model.name == "from-file"
    assert agent.environment["TEXT"] == "Zoë # 1"
    assert "TEXT" not in os.environ


def test_the_process_is_where_variables_come_from(
    write_agent: WriteAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an environment of one's own, the process's counts."""
    monkeypatch.setenv("HOLODECK_TEST_NAME", "from the process")

    assert load_agent(write_agent("name: ${HOLODECK_TEST_NAME}\nmodel: {}\n")).config.name == (
        "from the process"
    )


def test_secrets_stand_in_no_repr(write_agent: WriteAgent, tmp_path: Path) -> None:
    """A logged agent shows no key, neither YAML's nor one of the environment."""
    (tmp_path / ".env").write_text("OTHER=CANARY-2\n", encoding="utf-8")
    agent = load_agent(write_agent("name: a\nmodel: {api_key: CANARY-1}\n"), environ={})

    assert "CANARY" not in repr(agent)


def test_anchors_and_merges_are_written_out(write_agent: WriteAgent) -> None:
    """``<<`` fills in what the mapping does not say itself; lines point to the anchor's."""
    text = (
        "name: a\n"
        "model: &base\n"
        "  name: x\n"
        "  temperature: 0.5\n"
        "tools:\n"
        "  - name: t\n"
        "    source: s\n"
        "    engine: graphrag\n"
        "    graphrag:\n"
        "      search_model:\n"
        "        <<: *base\n"
        "        name: y\n"
    )
    agent = load_agent(write_agent(text), environ={})

    graph = agent.config.vectorstore_tools[0].graphrag
    assert graph is not None
    assert graph.search_model is not None
    assert (graph.search_model.name, graph.search_model.temperature) == ("y", 0.5)
    path = ("tools", 0, "graphrag", "search_model")
    assert (agent.lines[*path, "name"], agent.lines[*path, "temperature"]) == (12, 4)


def test_aliases_cannot_multiply_without_end(write_agent: WriteAgent) -> None:
    """Nine aliases of nine aliases of nine … are refused before they fill the memory."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]

    with pytest.raises(ConfigError, match="more than 100000 settings"):
        load_agent(write_agent("\n".join(levels)), environ={})


def test_depth_is_refused_before_the_stack_ends(write_agent: WriteAgent) -> None:
    """Brackets without end are a message, not a crash."""
    with pytest.raises(ConfigError, match="more than 50 deep"):
        load_agent(write_agent("name: " + "[" * 5000), environ={})


def test_a_file_too_large_is_not_read(write_agent: WriteAgent) -> None:
    """Whoever names a data file by mistake waits for nothing."""
    with pytest.raises(ConfigError, match="larger than"):
        load_agent(write_agent("#" * (MAX_BYTES + 1)), environ={})


def test_a_file_that_is_missing_or_a_folder_says_what_to_do(tmp_path: Path) -> None:
    """Both messages name the file and the next step."""
    with pytest.raises(ConfigError, match="does not exist: name an agent's YAML file") as missing:
        load_agent(tmp_path / "agent.yaml", environ={})
    with pytest.raises(ConfigError, match="is a folder: name the agent's YAML file"):
        load_agent(tmp_path, environ={})

    assert str(tmp_path / "agent.yaml") in str(missing.value)


@pytest.mark.parametrize("name", ["a\0b", "~nobody-of-this-name/a.yaml", "n" * 300])
def test_a_path_that_cannot_be_opened_is_an_error(name: str, tmp_path: Path) -> None:
    """No path, however odd, ends in a trace."""
    with pytest.raises(ConfigError, match="cannot be opened"):
        load_agent(name if name.startswith("~") else tmp_path / name, environ={})


def test_a_file_in_another_encoding_names_the_line(tmp_path: Path) -> None:
    """Only UTF-8 is read, whatever the locale; a byte order mark is no trouble."""
    file = tmp_path / "agent.yaml"
    file.write_bytes(b"name: a\nmodel: {}\ndescription: Caf\xe9\n")
    with pytest.raises(ConfigError, match="save the file as UTF-8") as caught:
        load_agent(file, environ={})
    assert caught.value.line == 3

    file.write_bytes("\ufeffname: 삼성 🚀\nmodel: {}\n".encode())
    assert load_agent(file, environ={}).config.name == "삼성 🚀"


def test_broken_lines_of_an_env_file_are_named_once(
    write_agent: WriteAgent, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file and its lines are told, never what stands there; the other lines count."""
    (tmp_path / ".env").write_text(
        "A=1\nsk-CANARY-3 here\n=CANARY-4\nexport B=2\nexport C\nD=3\n", encoding="utf-8"
    )
    environment = load_agent(write_agent(HEAD), environ={}).environment

    assert environment == {"A": "1", "B": "2", "D": "3"}
    assert len(caplog.records) == 1
    assert f"{tmp_path / '.env'}: what begins in line 2, 3 is not NAME=value" in caplog.text
    assert "CANARY" not in caplog.text


def test_an_env_file_that_cannot_be_read_is_named(write_agent: WriteAgent, tmp_path: Path) -> None:
    """Variables are not lost in silence."""
    file = write_agent(HEAD)
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    with pytest.raises(ConfigError, match="UTF-8") as caught:
        load_agent(file, environ={})
    assert caught.value.file == tmp_path / ".env"

    (tmp_path / ".env").unlink()
    (tmp_path / ".env").mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        load_agent(file, environ={})


def test_the_only_tool_needs_no_name(write_agent: WriteAgent) -> None:
    """With several tools one must be named, and the message lists them."""
    one = load_agent(write_agent(HEAD + "tools: [{name: only, source: x}]\n"), environ={})
    assert one.tool_config().name == "only"
    assert one.tool_config("only").name == "only"

    two = load_agent(write_agent(TWO_TOOLS), environ={})
    assert two.tool_config("two").source == "y"
    with pytest.raises(ConfigError, match="name one of one, two"):
        two.tool_config()
    with pytest.raises(ConfigError, match="no tool 'three': the tools are one, two"):
        two.tool_config("three")
    with pytest.raises(ConfigError, match="has no tools"):
        load_agent(write_agent(HEAD), environ={}).tool_config()


def test_instructions_come_from_the_text_or_the_file(
    write_agent: WriteAgent, tmp_path: Path
) -> None:
    """A file counts from the agent's folder and is read as UTF-8."""
    (tmp_path / "told.md").write_text("Answer in 한국어.", encoding="utf-8")
    inline = load_agent(write_agent(HEAD + "instructions: {inline: Be brief.}\n"), environ={})
    filed = load_agent(write_agent(HEAD + "instructions: {file: told.md}\n"), environ={})

    assert inline.instructions() == "Be brief."
    assert filed.instructions() == "Answer in 한국어."
    assert load_agent(write_agent(HEAD), environ={}).instructions() is None


@pytest.mark.parametrize(
    ("name", "said"), [("no.md", "does not exist"), (".", "is a folder"), ("blank.md", "is blank")]
)
def test_instructions_that_cannot_be_read_point_to_the_setting(
    name: str, said: str, write_agent: WriteAgent, tmp_path: Path
) -> None:
    """The error stands at ``instructions.file`` with its line."""
    (tmp_path / "blank.md").write_text(" \n", encoding="utf-8")
    agent = load_agent(write_agent(HEAD + f"instructions:\n  file: {name}\n"), environ={})

    with pytest.raises(ConfigError, match=said) as caught:
        agent.instructions()

    assert (caught.value.line, caught.value.field) == (4, "instructions.file")


def test_all_tools_or_the_named_one(write_agent: WriteAgent) -> None:
    """A command works on every tool unless one is named; a name that is none is an error."""
    agent = load_agent(write_agent(TWO_TOOLS), environ={})

    assert [tool.name for tool in agent.tool_configs()] == ["one", "two"]
    assert [tool.name for tool in agent.tool_configs("two")] == ["two"]
    with pytest.raises(ConfigError, match="no tool 'three'"):
        agent.tool_configs("three")
    with pytest.raises(ConfigError, match="has no tools"):
        load_agent(write_agent(HEAD), environ={}).tool_configs()


def test_a_cap_is_an_amount_above_nothing(write_agent: WriteAgent) -> None:
    """Python is told what YAML would be told, before anything is built."""
    agent = load_agent(write_agent(HEAD), environ={})
    odd: list[Any] = [0, -1, float("nan"), float("inf"), "much", None, 10**400]

    assert agent.costing_at_most(2).config.execution.max_cost == 2.0
    for dollars in odd:
        with pytest.raises(ConfigError, match="an amount of USD above 0"):
            agent.costing_at_most(dollars)


def test_kept_replies_are_renewed_in_a_copy(write_agent: WriteAgent) -> None:
    """The loaded agent stays as its file says; where nothing is kept there is nothing to renew."""
    agent = load_agent(write_agent(HEAD + "execution: {concurrency: 3}\n"), environ={})
    keeps_nothing = load_agent(write_agent(HEAD + "execution: {cache: false}\n"), environ={})

    renewing = agent.renewing_replies()

    assert (agent.config.execution.cache, renewing.config.execution.cache) == (True, "renew")
    assert renewing.config.execution.concurrency == 3
    assert renewing.lines == agent.lines
    assert keeps_nothing.renewing_replies().config.execution.cache is False


def test_an_error_of_a_tool_is_placed_in_the_file(write_agent: WriteAgent) -> None:
    """A field is counted from the tool, one of the agent's model from the top; the kind stays."""
    agent = load_agent(write_agent(TWO_TOOLS), environ={})

    own = agent.placed(MissingKeyError("no key", field="graphrag.search_model.api_key"), "two")
    agents = agent.placed(ConfigError("no key", field="model.api_key"), "two")

    assert (type(own), own.line, own.field) == (
        MissingKeyError,
        5,
        "tools[1].graphrag.search_model.api_key",
    )
    assert (agents.line, agents.field) == (2, "model.api_key")


async def test_what_a_build_finds_wrong_is_placed_in_the_file(
    write_agent: WriteAgent, tmp_path: Path
) -> None:
    """A field that no file of records has is blamed on its line, from Python too."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.csv").write_text("name,text\n1,a lamp\n", encoding="utf-8")
    file = write_agent(
        "name: a\nmodel: {provider: embedded}\ntools:\n"
        "  - name: k\n    source: docs\n    vector_field: text\n    id_field: sku\n"
    )
    tool = load_agent(file, environ={}).tool()
    with pytest.raises(ConfigError, match="has no field 'sku'; its fields are name, text") as told:
        await tool.initialize()
    await tool.close()

    assert (told.value.file, told.value.line) == (file, 7)
    assert told.value.field == "tools[0].id_field"
