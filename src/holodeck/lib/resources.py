"""Model settings → live models: keys, servers, extras, one client for equal settings.

Nothing of a provider is imported before its model is asked for; ``check`` says beforehand whether
that can work.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from holodeck.errors import ConfigError
from holodeck.lib.contracts import ChatModel, Embedder, Memo, Reranker
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.extras import require_extra
from holodeck.lib.meter import Meter
from holodeck.lib.paths import check_writable
from holodeck.lib.prices import Kind, Price, find_price, looked_for
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow, provider_row
from holodeck.lib.providers.access import ModelAccess, find_key
from holodeck.lib.providers.budget import GO_ON, capped, left_of_cap
from holodeck.lib.providers.embedding_cache import CachedEmbedder
from holodeck.lib.providers.probes import probe_chat, probe_embedder
from holodeck.lib.providers.reply_keys import reply_key
from holodeck.lib.providers.reply_store import ModelReplies, ReplyStore, noting_keys
from holodeck.lib.providers.rerankers import (
    check_reranker,
    open_reranker,
    reranker_name,
    reranker_price,
)
from holodeck.lib.providers.wrappers import wrap_chat, wrap_embedder
from holodeck.lib.resolution import ResolvedTool, resolve_tool
from holodeck.lib.unused_settings import refuse_unused_settings, server_problem
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings, ProviderName
from holodeck.models.reranker import RerankerConfig

__all__ = ["ResolvedTool", "Resources", "noting_keys", "reply_key", "resolve_tool"]

logger = logging.getLogger(__name__)

REPLIES_FILE = "replies.sqlite"
"""The file of paid replies in the cache folder."""


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
        self._cache_dir = cache_dir if self._execution.cache else None
        self._replies: ReplyStore | None = None
        self.meter = Meter()
        """What was asked of the models, by purpose."""
        self._environ = os.environ if environ is None else environ
        self._table = table
        self._chats: dict[ModelAccess, ChatModel] = {}
        self._rerankers: dict[RerankerConfig, Reranker] = {}
        self._embedders: dict[tuple[ModelAccess, int | None], Embedder] = {}
        self._steps: dict[
            tuple[ModelAccess, tuple[str, ...]], Any
        ] = {}  # Any: IndexSteps and AnswerSteps in one

    def check_cache(self) -> None:
        """Find out whether paid replies can be kept, before anything is paid for.

        Raises:
            ConfigError: They cannot.
        """
        if self._cache_dir is None:
            return
        try:
            self._cache_dir.mkdir(parents=True, exist_ok=True)
            # The cache may lie inside a source: it is not one of its documents.
            if not (self._cache_dir / OWN_FOLDER_MARK).exists():
                (self._cache_dir / OWN_FOLDER_MARK).touch()
            self._check_replies_file(self._cache_dir / REPLIES_FILE)
            check_writable(self._cache_dir)
        except OSError as error:
            raise ConfigError(
                f"paid replies cannot be kept in {self._cache_dir} ({error}): free that path, "
                "set execution.cache_dir, or set execution.cache: false",
                field="execution.cache_dir",
            ) from error

    @staticmethod
    def _check_replies_file(file: Path) -> None:
        # Asked and not tried: to open and close the file takes away the locks that this process
        # holds on it, and the next write of another process destroys it.
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    @property
    def replies(self) -> ReplyStore | None:
        """The store of paid replies; ``None`` where none is kept, or this user may not write it."""
        if self._replies is None and self._cache_dir is not None:
            try:
                self.check_cache()
            except ConfigError as error:
                logger.info("%s", error.message)
                return None
            renews = self._execution.cache == "renew"
            store = ReplyStore(self._cache_dir / REPLIES_FILE, renews=renews)
            store.check()
            self._replies = store
        return self._replies

    def replies_of(self, settings: ModelSettings) -> Memo | None:
        """Return the kept replies of a model; ``None`` where none are kept."""
        store = self.replies
        model = f"{settings.provider}/{settings.name or ''}"
        return None if store is None else ModelReplies(store, model)

    def capped(self, limit: float | None, advice: str = GO_ON) -> AbstractContextManager[object]:
        """Let the model calls that are made inside cost no more than ``limit`` USD."""
        return capped(limit, advice)

    def left_of_cap(self) -> float | None:
        """Return what whoever calls may still spend, in USD; ``None``: any amount."""
        left = left_of_cap()
        # A cap of nothing stops at the first call that costs something, as it must.
        return None if left is None else max(left, 1e-12)

    @contextmanager
    def used_by(self, user: Path, generation: str) -> Iterator[Callable[[], int]]:
        """Note which kept replies a build uses; yields a function that says how many it took."""
        store = self.replies
        if store is None:
            yield lambda: 0
        else:
            with store.used_by(str(user), generation) as taken:
                yield taken

    def keep_uses(self, user: Path, generation: str) -> None:
        """Forget which kept replies older generations of an index used."""
        if self.replies is not None:
            self.replies.keep_uses(str(user), generation)

    def note_keys(self, keys: Iterable[str]) -> None:
        """Note that a build uses kept replies which it did not read again."""
        if self.replies is not None:
            self.replies.note_use(keys)

    def note_uses_of(self, generation: str) -> None:
        """Note that a build uses what another generation of its index was made of."""
        if self.replies is not None:
            self.replies.note_uses_of(generation)

    def note_use(self, embedder: Embedder, texts: Iterable[str]) -> None:
        """Note that a build uses the vectors of these texts, wherever it has them from."""
        if self.replies is not None and isinstance(embedder, CachedEmbedder):
            self.replies.note_use(map(embedder.key_of, texts))

    @property
    def environ(self) -> dict[str, str]:
        """What the providers' own variables (keys, servers) say here; blank ones left out."""
        names = {
            name
            for row in self._table.values()
            for name in (row.key_variable, row.base_variable, row.version_variable)
            if name is not None
        }
        return {name: self._environ[name] for name in sorted(names) if self._environ.get(name)}

    def check(self, settings: ModelSettings, where: str) -> None:
        """Find out whether the model can be reached for, without importing its provider.

        Args:
            settings: The model.
            where: Dotted path of the setting that chose it, for messages.

        Raises:
            ConfigError: This version does not know the provider, it has no use for a setting, or
                it needs a server and none is named.
            MissingExtraError: Its packages are not installed.
            MissingKeyError: It needs a key and there is none.
        """
        row = provider_row(settings.provider, where, self._table)
        if row.extra is not None:
            require_extra(row.extra, f"provider: {settings.provider}")
        refuse_unused_settings(settings, where, self._table)
        self._key(settings, row, where)
        self._base(settings, row, where)

    def access(self, settings: ModelSettings, where: str) -> ModelAccess:
        """Return everything that a client of the model is made from.

        Raises:
            ConfigError: As for ``check``.
        """
        return self._access(settings, where, self._row(settings, where).chat_default)

    def price(self, settings: ModelSettings, kind: Kind) -> Price | None:
        """Return what a model costs; ``None``: nobody knows."""
        row = provider_row(settings.provider, "model", self._table)
        return find_price(
            settings.provider,
            settings.name or (row.chat_default if kind == "chat" else row.embedding_default),
            kind,
            deployment=settings.deployment_name,
            own=self._execution.prices,
        )

    def is_served(self, settings: ModelSettings) -> bool:
        """Whether a server is asked for the model, as opposed to this process."""
        return provider_row(settings.provider, "model", self._table).chat is not None

    def require_price(self, settings: ModelSettings, kind: Kind, where: str) -> None:
        """Find out whether a cost cap, where there is one, can hold for a model.

        Raises:
            ConfigError: There is a cap, and nobody knows the model's price.
        """
        if self._execution.max_cost is not None and self.price(settings, kind) is None:
            needs = "" if kind == "embedding" else ", output: …"
            raise _unpriced(
                looked_for(settings.provider, settings.name or "", settings.deployment_name),
                f"{settings.provider} model {settings.name!r}",
                f"input: …{needs}",
                "million tokens",
                where,
            )

    def require_reranker_price(self, settings: RerankerConfig) -> None:
        """Find out whether a cost cap, where there is one, can hold for a reranker.

        Raises:
            ConfigError: As for ``require_price``.
        """
        price = reranker_price(settings, self._execution)
        if self._execution.max_cost is not None and price is None:
            name = reranker_name(settings)
            raise _unpriced(
                looked_for(settings.provider, name),
                f"{settings.provider} model {name!r}",
                "search: …",
                "thousand search units",
                "reranker",
            )

    def chat(self, settings: ModelSettings, where: str) -> ChatModel:
        """Return the language model; the same one for equal settings.

        Raises:
            ConfigError: As for ``check``; also when the provider has no language model.
        """
        row = self._row(settings, where)
        if row.chat is None:
            raise ConfigError(
                f"provider {settings.provider!r} has no language model: choose another provider "
                "for what needs one",
                field=where,
            )
        access = self._access(settings, where, row.chat_default)
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
        row = self._row(settings, where)
        access = self._access(settings, where, row.embedding_default, dimensions, "embedding")
        key = (access, width)
        if key not in self._embedders:
            embedder: Embedder = row.load("embedder")(access)
            # Vectors that cost nothing are not worth keeping.
            is_paid = row.chat is not None
            self._embedders[key] = (
                wrap_embedder(embedder, access, self.meter, self.replies, width=width)
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
        if provider_row(settings.provider, where, self._table).steps is None:
            return None
        row = self._row(settings, where)
        access = self._access(settings, where, row.chat_default)
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
        row = self._row(settings, where)
        if row.chat is not None:
            access = self._access(settings, where, row.chat_default)
            await probe_chat(row.load("chat")(access), access, settings, self.meter)

    async def probe_embedder(
        self, settings: ModelSettings, where: str, dimensions: int | None = None
    ) -> int | None:
        """Embed one word and return the width of the vectors, where a server was asked.

        Raises:
            ConfigError: As for ``check``.
            ProviderError: The model cannot be used as the settings say.
        """
        row = self._row(settings, where)
        if row.chat is None:
            return None  # in this process: there is no server to ask
        access = self._access(settings, where, row.embedding_default, dimensions, "embedding")
        return await probe_embedder(row.load("embedder")(access), access, self.meter)

    async def close(self) -> None:
        """Release every model, also when one of them fails to; then start from nothing."""
        models: list[ChatModel | Embedder | Reranker] = [
            *self._chats.values(),
            *self._embedders.values(),
            *self._rerankers.values(),
        ]
        self._chats, self._embedders, self._steps, self._rerankers = {}, {}, {}, {}
        replies, self._replies = self._replies, None
        async with AsyncExitStack() as stack:
            if replies is not None:
                stack.callback(replies.close)
            for model in models:
                stack.push_async_callback(model.close)

    def _row(self, settings: ModelSettings, where: str) -> ProviderRow:
        self.check(settings, where)
        return provider_row(settings.provider, where, self._table)

    def _access(
        self,
        settings: ModelSettings,
        where: str,
        default: str,
        dimensions: int | None = None,
        kind: Kind = "chat",
    ) -> ModelAccess:
        row = self._row(settings, where)
        execution = self._execution
        return ModelAccess(
            provider=settings.provider,
            name=settings.name or default,
            api_key=self._key(settings, row, where),
            api_base=self._base(settings, row, where),
            api_version=settings.api_version or self._variable(row.version_variable),
            deployment_name=settings.deployment_name,
            timeout=execution.llm_timeout,
            concurrency=execution.concurrency,
            max_retries=execution.max_retries,
            retry_budget=execution.retry_budget,
            where=where,
            dimensions=dimensions,
            context_size=settings.context_size,
            price=self.price(settings, kind),
        )

    def _base(self, settings: ModelSettings, row: ProviderRow, where: str) -> str | None:
        from_variable = self._variable(row.base_variable)
        base = settings.api_base or from_variable
        problem = None if base is None else server_problem(base, row)
        if problem is not None:
            what = (
                "api_base" if settings.api_base else f"the environment variable {row.base_variable}"
            )
            raise ConfigError(
                f"{what} {problem}; write the server's URL, as in http://localhost:8000/v1",
                field=f"{where}.api_base",
            )
        if base is None and row.base_required:
            raise ConfigError(
                f"{settings.provider} needs the address of your resource: set {where}.endpoint or "
                f"the environment variable {row.base_variable} (https://NAME.openai.azure.com)",
                field=f"{where}.api_base",
            )
        return base

    def _key(self, settings: ModelSettings, row: ProviderRow, where: str) -> SecretStr | None:
        return find_key(
            settings.api_key,
            row.key_variable,
            self._environ,
            provider=settings.provider,
            where=where,
        )

    def _variable(self, name: str | None) -> str | None:
        value = "" if name is None else self._environ.get(name, "")
        return value.strip() or None


def _unpriced(names: Sequence[str], model: str, needs: str, unit: str, where: str) -> ConfigError:
    return ConfigError(
        f"max_cost cannot hold: the price of {model} is not known. Give it as "
        f"'execution.prices: {{{names[-1]}: {{{needs}}}}}' in USD per {unit}, or remove max_cost",
        field=where,
    )
