"""Model settings → live models, one client for equal settings.

Nothing of a provider is imported before its model is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

from holodeck.errors import ConfigError
from holodeck.lib.contracts import ChatModel, Embedder, Reranker
from holodeck.lib.meter import Meter
from holodeck.lib.paid_replies import PaidReplies
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.budget import GO_ON, capped, left_of_cap
from holodeck.lib.providers.probes import probe_chat, probe_embedder
from holodeck.lib.providers.reply_keys import reply_key
from holodeck.lib.providers.reply_store import noting_keys
from holodeck.lib.providers.rerankers import check_reranker, open_reranker
from holodeck.lib.providers.wrappers import wrap_chat, wrap_embedder
from holodeck.lib.reach import Reach
from holodeck.lib.resolution import ResolvedTool, resolve_tool
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings, ProviderName
from holodeck.models.reranker import RerankerConfig

__all__ = ["ResolvedTool", "Resources", "noting_keys", "reply_key", "resolve_tool"]


class Resources:
    """The live models of one agent or tool; ``close`` releases them.

    Args:
        execution: Time budgets, concurrency and retries that every model is given.
        environ: Where keys and servers are looked for; default: the process's variables. An
            agent that was loaded from a file has its own (``LoadedAgent.environment``).
        cache_dir: Folder of the paid replies; ``None`` keeps none.
        table: The providers.
    """

    def __init__(
        self,
        execution: ExecutionConfig | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        cache_dir: Path | None = None,
        table: Mapping[ProviderName, ProviderRow] = PROVIDER_TABLE,
    ) -> None:
        self._execution = execution or ExecutionConfig()
        self._environ = os.environ if environ is None else environ
        self.reach = Reach(self._execution, self._environ, table)
        """How the models are reached."""
        self.paid = PaidReplies(
            cache_dir if self._execution.cache else None, renews=self._execution.cache == "renew"
        )
        """The replies that are kept."""
        self.meter = Meter()
        """What was asked of the models, by purpose."""
        self._chats: dict[ModelAccess, ChatModel] = {}
        self._rerankers: dict[RerankerConfig, Reranker] = {}
        self._embedders: dict[tuple[ModelAccess, int | None], Embedder] = {}
        self._steps: dict[
            tuple[ModelAccess, tuple[str, ...]], Any
        ] = {}  # Any: IndexSteps and AnswerSteps in one

    def capped(self, limit: float | None, advice: str = GO_ON) -> AbstractContextManager[object]:
        """Let the model calls that are made inside cost no more than ``limit`` USD."""
        return capped(limit, advice)

    def left_of_cap(self) -> float | None:
        """Return what whoever calls may still spend, in USD; ``None``: any amount."""
        left = left_of_cap()
        # A cap of nothing stops at the first call that costs something, as it must.
        return None if left is None else max(left, 1e-12)

    def check(self, settings: ModelSettings, where: str) -> None:
        """Find out whether the model can be reached for, without importing its provider.

        Raises:
            ConfigError: It cannot: see ``Reach.check``.
        """
        self.reach.check(settings, where)

    def chat(self, settings: ModelSettings, where: str) -> ChatModel:
        """Return the language model; the same one for equal settings.

        Raises:
            ConfigError: As for ``check``; also when the provider has no language model.
        """
        access = self.reach.access(settings, where)
        row = self.reach.row(settings, where)
        if row.chat is None:
            raise ConfigError(
                f"provider {settings.provider!r} has no language model: choose another provider "
                "for what needs one",
                field=where,
            )
        if access not in self._chats:
            self._chats[access] = wrap_chat(row.load("chat")(access), access, self.meter)
        return self._chats[access]

    def embedder(
        self,
        settings: ModelSettings,
        where: str,
        dimensions: int | None = None,
        *,
        width: int | None = None,
    ) -> Embedder:
        """Return the embedding model; the same one for equal settings.

        Args:
            settings: The model.
            where: Dotted path of the setting that chose it, for messages.
            dimensions: Width of the vectors to ask for; default: the model's own.
            width: Of the vectors that the model gives, where that is known: kept ones of another
                width are not used, but asked for again and replaced.

        Raises:
            ConfigError: As for ``check``.
        """
        access = self.reach.embedding_access(settings, where, dimensions)
        row = self.reach.row(settings, where)
        key = (access, width)
        if key not in self._embedders:
            embedder: Embedder = row.load("embedder")(access)
            # Vectors that cost nothing are not worth keeping.
            is_paid = row.chat is not None
            self._embedders[key] = (
                wrap_embedder(embedder, access, self.meter, self.paid.store, width=width)
                if is_paid
                else embedder
            )
        return self._embedders[key]

    def reranker(self, settings: RerankerConfig) -> Reranker:
        """Return the reranking model; the same one for equal settings.

        Raises:
            ConfigError: Its key or its package is missing.
        """
        if settings not in self._rerankers:
            self._rerankers[settings] = open_reranker(
                settings, self._execution, self._environ, self.meter
            )
        return self._rerankers[settings]

    def check_reranker(self, settings: RerankerConfig) -> None:
        """Find out whether the reranker can be reached for, without importing it.

        Raises:
            ConfigError: Its key or its package is missing.
        """
        check_reranker(settings, self._environ)

    def steps(
        self, settings: ModelSettings, where: str, *, entity_types: tuple[str, ...] = ()
    ) -> Any | None:  # Any: as in __init__
        """Return the ``IndexSteps`` and ``AnswerSteps`` of a provider that thinks by rules.

        ``None`` says that the provider has a language model and the steps are prompts to it.

        Raises:
            ConfigError: As for ``check``.
        """
        row = self.reach.row(settings, where)
        if row.steps is None:
            return None
        access = self.reach.access(settings, where)
        key = (access, entity_types)
        if key not in self._steps:
            self._steps[key] = row.load("steps")(access, entity_types=entity_types)
        return self._steps[key]

    async def probe(self, settings: ModelSettings, where: str) -> None:
        """Ask the language model one word, so that what is wrong is found before it costs.

        Raises:
            ConfigError: As for ``check``.
            ProviderError: The model cannot be used as the settings say.
        """
        access = self.reach.access(settings, where)
        row = self.reach.row(settings, where)
        if row.chat is not None:
            await probe_chat(row.load("chat")(access), access, settings, self.meter)

    async def probe_embedder(
        self, settings: ModelSettings, where: str, dimensions: int | None = None
    ) -> int | None:
        """Embed one word and return the width of the vectors, where a server was asked.

        Raises:
            ConfigError: As for ``check``.
            ProviderError: The model cannot be used as the settings say.
        """
        access = self.reach.embedding_access(settings, where, dimensions)
        row = self.reach.row(settings, where)
        if row.chat is None:
            return None  # in this process: there is no server to ask
        return await probe_embedder(row.load("embedder")(access), access, self.meter)

    async def close(self) -> None:
        """Release every model, also when one of them fails to; then start from nothing."""
        models: list[ChatModel | Embedder | Reranker] = [
            *self._chats.values(),
            *self._embedders.values(),
            *self._rerankers.values(),
        ]
        self._chats, self._embedders, self._steps, self._rerankers = {}, {}, {}, {}
        async with AsyncExitStack() as stack:
            stack.callback(self.paid.close)
            for model in models:
                stack.push_async_callback(model.close)
