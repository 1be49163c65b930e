"""The page about providers says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from holodeck.config.schema import agent_schema
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.lib.providers.azure_openai import DEFAULT_API_VERSION
from holodeck.lib.providers.ollama_client import OLLAMA_URL
from holodeck.lib.providers.ollama_context import SMALLEST_CONTEXT
from holodeck.models.agent import AgentConfig
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ProviderName

PAGE = (Path(__file__).parents[4] / "docs" / "providers.md").read_text("utf-8")


@pytest.mark.parametrize("provider", [name for name, row in PROVIDER_TABLE.items() if row.chat])
def test_the_defaults_of_a_provider_are_the_tables(provider: ProviderName) -> None:
    """Its row names the three models that are used where YAML names none."""
    row = PROVIDER_TABLE[provider]
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{provider}` |")]

    names = f"`{row.chat_default}` / `{row.index_default}` / `{row.embedding_default}`"
    assert names in line


@pytest.mark.parametrize("provider", list(PROVIDER_TABLE))
def test_the_variables_of_a_provider_are_named(provider: ProviderName) -> None:
    """Whatever is read from the environment stands on the page."""
    row = PROVIDER_TABLE[provider]
    read = {row.key_variable, row.base_variable, row.version_variable} - {None}

    assert [name for name in read if f"`{name}`" not in PAGE] == []


def test_the_numbers_are_the_codes() -> None:
    """Version, address, context and the table of times."""
    assert f"`{DEFAULT_API_VERSION}`" in PAGE
    assert f"`{OLLAMA_URL}`" in PAGE
    assert f"at least {SMALLEST_CONTEXT:,}" in PAGE
    defaults = ExecutionConfig()
    for name in ("llm_timeout", "max_retries", "retry_budget", "concurrency"):
        assert f"| `{name}` | {getattr(defaults, name):g} |" in PAGE


def test_the_example_is_valid() -> None:
    """It loads, and an editor marks nothing in it."""
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    data = yaml.safe_load(example)

    assert AgentConfig.model_validate(data).vectorstore_tools[0].embedding_model is not None
    assert list(Draft202012Validator(agent_schema()).iter_errors(data)) == []


@pytest.mark.parametrize("wrong", [{"nam": "e"}, {"provider": "olama"}, 5])
def test_an_editor_marks_a_wrong_block(wrong: object) -> None:
    """Unknown keys and providers are red before the file is run."""
    tool = {"name": "t", "source": "docs", "embedding_model": wrong}
    data = {"name": "a", "model": {}, "tools": [tool]}

    assert list(Draft202012Validator(agent_schema()).iter_errors(data)) != []


def test_an_editor_knows_the_other_name_of_the_server() -> None:
    """``endpoint`` is no unknown key of a block."""
    tool = {"name": "t", "source": "docs", "embedding_model": {"endpoint": "http://e"}}
    data = {"name": "a", "model": {}, "tools": [tool]}

    assert list(Draft202012Validator(agent_schema()).iter_errors(data)) == []
