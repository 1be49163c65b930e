"""Model settings become live models, or an error before anything is imported."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from pydantic import SecretStr

import holodeck
from holodeck.errors import ConfigError, IndexingError, MissingExtraError, MissingKeyError
from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest, Embedder, Message
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.resources import Resources
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import PROVIDERS, ModelSettings, ProviderName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EchoChat(ChatModel):
    """Answers with what it was made from, and knows whether it was closed."""

    made: ClassVar[list[EchoChat]] = []

    def __init__(self, access: ModelAccess) -> None:
        self.provider, self.name = access.provider, access.name
        self.access = access
        self.closed = 0
        self.made.append(self)

    async def complete(self, request: ChatRequest) -> ChatReply:
        return ChatReply(text=self.access.name)

    async def close(self) -> None:
        self.closed += 1
        if self.access.name == "stubborn":
            raise OSError("will not close")


class NoEmbedder(Embedder):
    """Keeps what it was made from."""

    made: ClassVar[list[NoEmbedder]] = []

    def __init__(self, access: ModelAccess) -> None:
        self.provider, self.name = access.provider, access.name
        self.access = access
        self.closed = 0
        self.made.append(self)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise NotImplementedError

    async def close(self) -> None:
        self.closed += 1


class Rules:
    """Steps without a language model."""

    def __init__(self, access: ModelAccess, *, entity_types: Sequence[str] = ()) -> None:
        self.access = access
        self.entity_types = tuple(entity_types)


TABLE: dict[ProviderName, ProviderRow] = {
    "openai": ProviderRow(
        chat=f"{__name__}:EchoChat",
        embedder=f"{__name__}:NoEmbedder",
        key_variable="OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
        chat_default="chat",
        index_default="index",
        embedding_default="embedding",
    ),
    "embedded": ProviderRow(
        embedder=f"{__name__}:NoEmbedder",
        steps=f"{__name__}:Rules",
        chat_default="rules",
        index_default="rules",
        embedding_default="words",
        extra="embedded",
    ),
    "ollama": ProviderRow(
        chat="holodeck.no_such_module:Chat",
        embedder="holodeck.no_such_module:Embedder",
        chat_default="c",
        index_default="i",
        embedding_default="e",
    ),
}
OPENAI = ModelSettings(provider="openai")
EMBEDDED = ModelSettings(provider="embedded")


def resources(**environ: str) -> Resources:
    """Return resources over the table above, with only these variables."""
    return Resources(environ=environ, table=TABLE)


def test_access_holds_settings_environment_and_execution() -> None:
    """A client needs nothing else, and a message can name where the model was chosen."""
    execution = ExecutionConfig(llm_timeout=7, concurrency=3, max_retries=0, retry_budget=9)
    environ = {"OPENAI_API_KEY": " from-env ", "OPENAI_BASE_URL": "http://env"}

    access = Resources(execution, environ=environ, table=TABLE).reach.access(OPENAI, "model")

    assert access == ModelAccess(
        provider="openai",
        name="chat",
        api_key=SecretStr("from-env"),
        api_base="http://env",
        timeout=7,
        concurrency=3,
        max_retries=0,
        retry_budget=9,
        where="model",
    )


def test_yaml_wins_over_the_environment() -> None:
    """Key and server of the settings are used where they are given."""
    settings = ModelSettings(name="n", api_key="mine", api_base="http://mine", api_version="v")

    access = resources(OPENAI_API_KEY="env", OPENAI_BASE_URL="http://env").reach.access(
        settings, "model"
    )

    assert access.api_key == SecretStr("mine")
    assert (access.name, access.api_base, access.api_version) == ("n", "http://mine", "v")


@pytest.mark.parametrize("key", [None, "", "   ", "${OPENAI_API_KEY}"])
def test_a_key_that_is_none_counts_as_missing(key: str | None) -> None:
    """Unset, empty, blank and unreplaced are told before any call, by variable and YAML path."""
    environ = {} if key is None else {"OPENAI_API_KEY": key}

    with pytest.raises(MissingKeyError, match="API key required for openai") as caught:
        resources(**environ).check(OPENAI, "tools[0].graphrag.search_model")

    assert "OPENAI_API_KEY" in caught.value.message
    assert caught.value.field == "tools[0].graphrag.search_model.api_key"
    assert isinstance(caught.value, IndexingError)
    assert caught.value.exit_code == 2


def test_a_provider_without_keys_needs_none() -> None:
    """No variable of another provider is asked for."""
    resources().check(ModelSettings(provider="ollama"), "model")


def test_a_provider_without_a_row_is_refused() -> None:
    """What YAML may name and this version lacks is an error that lists what there is."""
    with pytest.raises(ConfigError, match="use 'openai' or 'embedded' or 'ollama'") as caught:
        resources().check(ModelSettings(provider="azure_openai"), "model")

    assert caught.value.field == "model.provider"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint names the extra, not the package behind it."""
    monkeypatch.setitem(sys.modules, "wordllama", None)  # Python's way to say: not installed

    with pytest.raises(MissingExtraError, match=r"holodeck\[embedded\]"):
        resources().check(EMBEDDED, "model")


def test_checking_imports_no_provider() -> None:
    """``check`` passes for a row whose module does not even exist; using it is what imports."""
    resources().check(ModelSettings(provider="ollama"), "model")

    with pytest.raises(ModuleNotFoundError):
        resources().chat(ModelSettings(provider="ollama"), "model")


def test_equal_settings_share_a_model() -> None:
    """One client for equal access; any difference makes another."""
    live = resources(OPENAI_API_KEY="k")

    assert live.chat(OPENAI, "model") is live.chat(ModelSettings(provider="openai"), "model")
    assert live.chat(OPENAI, "model") is not live.chat(ModelSettings(name="x"), "model")
    assert live.embedder(OPENAI, "model") is live.embedder(OPENAI, "model")
    assert live.embedder(OPENAI, "model") is not live.embedder(OPENAI, "model", dimensions=8)
    assert live.steps(EMBEDDED, "model") is live.steps(EMBEDDED, "model")


def test_each_kind_of_model_has_its_default_name() -> None:
    """An embedder without a name is the provider's embedding model, not its chat model."""
    live = resources(OPENAI_API_KEY="k")

    live.embedder(OPENAI, "model", dimensions=8)
    live.chat(OPENAI, "model")

    embedder, chat = NoEmbedder.made[-1], EchoChat.made[-1]
    assert (embedder.access.name, embedder.access.dimensions) == ("embedding", 8)
    assert (chat.access.name, chat.access.dimensions) == ("chat", None)


async def test_a_paid_model_is_limited_retried_and_counted(tmp_path: Path) -> None:
    """Whatever a provider's model is, its calls are counted and its vectors kept."""
    live = Resources(environ={"OPENAI_API_KEY": "k"}, table=TABLE, cache_dir=tmp_path)
    request = ChatRequest(messages=(Message(role="user", content="?"),), purpose="extract")

    await live.chat(OPENAI, "model").complete(request)
    await live.close()

    assert {purpose: spent.calls for purpose, spent in live.meter.usage().items()} == {"extract": 1}
    assert live.paid.store is not None
    await live.close()  # the store was opened again
    assert (tmp_path / OWN_FOLDER_MARK).exists()


def test_no_cache_keeps_no_replies(tmp_path: Path) -> None:
    """``execution.cache: false`` pays again and leaves no file."""
    live = Resources(ExecutionConfig(cache=False), environ={}, cache_dir=tmp_path)

    assert live.paid.store is None
    assert list(tmp_path.iterdir()) == []


def test_steps_are_rules_or_prompts() -> None:
    """A provider without a language model thinks by rules; for the others there is None."""
    live = resources(OPENAI_API_KEY="k")

    assert isinstance(live.steps(EMBEDDED, "model"), Rules)
    assert live.steps(OPENAI, "model") is None
    with pytest.raises(ConfigError, match="'embedded' has no language model"):
        live.chat(EMBEDDED, "model")


async def test_close_releases_every_model_even_if_one_fails() -> None:
    """The failure is raised after all were closed; a second close has nothing to do."""
    live = resources(OPENAI_API_KEY="k")
    live.chat(OPENAI, "model")
    live.chat(ModelSettings(name="stubborn"), "model")
    live.embedder(OPENAI, "model")
    first, stubborn = EchoChat.made[-2:]
    embedder = NoEmbedder.made[-1]

    with pytest.raises(OSError, match="will not close"):
        await live.close()
    await live.close()

    assert (first.closed, stubborn.closed, embedder.closed) == (1, 1, 1)


def test_a_closed_set_of_models_starts_again() -> None:
    """After ``close`` in one loop the next one gets models of its own."""
    live = resources(OPENAI_API_KEY="k")
    before = live.chat(OPENAI, "model")
    asyncio.run(live.close())

    assert live.chat(OPENAI, "model") is not before


def test_the_table_of_providers_is_light() -> None:
    """Checking a model loads no client, no tensors and no library."""
    code = (
        "import sys\n"
        "from holodeck.lib.resources import Resources\n"
        "from holodeck.models.llm import ModelSettings\n"
        "Resources(environ={'OPENAI_API_KEY': 'k'}).check(ModelSettings(), 'model')\n"
        "heavy = {'openai', 'numpy', 'wordllama', 'graphrag', 'lancedb', 'pyarrow', 'pandas'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
    )

    assert done.stdout.strip() == "[]"


def test_every_provider_that_yaml_may_name_has_a_row() -> None:
    """A word in the ``Literal`` is a promise; a forgotten row would break it."""
    assert set(PROVIDER_TABLE) == set(PROVIDERS)


_WRITE_ONE = """
import sys
from pathlib import Path
from holodeck.lib.resources import Resources
resources = Resources(environ={}, cache_dir=Path(sys.argv[1]))
resources.paid.store.put(sys.argv[2], "x" * 5000, "extract")
resources.paid.store.close()
"""


def test_looking_at_the_cache_leaves_its_locks(tmp_path: Path) -> None:
    """Resources of one process may look at the cache that others of it hold open: it stays whole.

    What opens and closes the file itself takes the locks of the process along.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    first = Resources(environ={}, cache_dir=tmp_path)
    for number in range(20):
        assert first.paid.store is not None
        first.paid.store.put(f"a{number}", "x" * 5000, "extract")
        Resources(environ={}, cache_dir=tmp_path).paid.check()
        if number % 7 == 3:
            words = [sys.executable, "-c", _WRITE_ONE, str(tmp_path), f"b{number}"]
            subprocess.run(words, check=True, env=environment)

    assert first.paid.store is not None
    assert first.paid.store.info().entries == {"extract": 23}
    assert not list(tmp_path.glob("*damaged*"))
    first.paid.store.close()
