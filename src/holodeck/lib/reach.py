"""How each model of the settings is reached: its provider's row, key, server and price.

Nothing of a provider is imported here; ``check`` says beforehand whether that can work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pydantic import SecretStr

from holodeck.errors import ConfigError
from holodeck.lib.extras import require_extra
from holodeck.lib.prices import Kind, Price, find_price, looked_for
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow, provider_row
from holodeck.lib.providers.access import ModelAccess, find_key
from holodeck.lib.providers.rerankers import reranker_name, reranker_price
from holodeck.lib.unused_settings import refuse_unused_settings, server_problem
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings, ProviderName
from holodeck.models.reranker import RerankerConfig

__all__ = ["Reach"]


class Reach:
    """Model settings → everything that a client of the model is made from.

    Args:
        execution: Time budgets, concurrency, retries and prices.
        environ: Where keys and servers are looked for; default: the process's variables.
        table: The providers.
    """

    def __init__(
        self,
        execution: ExecutionConfig,
        environ: Mapping[str, str] | None = None,
        table: Mapping[ProviderName, ProviderRow] = PROVIDER_TABLE,
    ) -> None:
        self._execution = execution
        self._variables = os.environ if environ is None else environ
        self._table = table

    @property
    def environ(self) -> dict[str, str]:
        """What the providers' own variables (keys, servers) say here; blank ones left out."""
        names = {
            name
            for row in self._table.values()
            for name in (row.key_variable, row.base_variable, row.version_variable)
            if name is not None
        }
        return {name: self._variables[name] for name in sorted(names) if self._variables.get(name)}

    def row(self, settings: ModelSettings, where: str) -> ProviderRow:
        """Return what there is to know of the model's provider; its module is not imported.

        Raises:
            ConfigError: This version does not know the provider.
        """
        return provider_row(settings.provider, where, self._table)

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
        row = self.row(settings, where)
        if row.extra is not None:
            require_extra(row.extra, f"provider: {settings.provider}")
        refuse_unused_settings(settings, where, self._table)
        self._key(settings, row, where)
        self._base(settings, row, where)

    def access(self, settings: ModelSettings, where: str) -> ModelAccess:
        """Return everything that a client of the language model is made from.

        Raises:
            ConfigError: As for ``check``.
        """
        return self._access(settings, where, self.row(settings, where).chat_default, "chat")

    def embedding_access(
        self, settings: ModelSettings, where: str, dimensions: int | None = None
    ) -> ModelAccess:
        """Return everything that a client of the embedding model is made from.

        Raises:
            ConfigError: As for ``check``.
        """
        default = self.row(settings, where).embedding_default
        return self._access(settings, where, default, "embedding", dimensions)

    def price(self, settings: ModelSettings, kind: Kind) -> Price | None:
        """Return what a model costs; ``None``: nobody knows."""
        row = self.row(settings, "model")
        return find_price(
            settings.provider,
            settings.name or (row.chat_default if kind == "chat" else row.embedding_default),
            kind,
            deployment=settings.deployment_name,
            own=self._execution.prices,
        )

    def is_served(self, settings: ModelSettings) -> bool:
        """Whether a server is asked for the model, as opposed to this process."""
        return self.row(settings, "model").chat is not None

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

    def _access(
        self,
        settings: ModelSettings,
        where: str,
        default: str,
        kind: Kind,
        dimensions: int | None = None,
    ) -> ModelAccess:
        self.check(settings, where)
        row = self.row(settings, where)
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
            self._variables,
            provider=settings.provider,
            where=where,
        )

    def _variable(self, name: str | None) -> str | None:
        value = "" if name is None else self._variables.get(name, "")
        return value.strip() or None


def _unpriced(names: Sequence[str], model: str, needs: str, unit: str, where: str) -> ConfigError:
    return ConfigError(
        f"max_cost cannot hold: the price of {model} is not known. Give it as "
        f"'execution.prices: {{{names[-1]}: {{{needs}}}}}' in USD per {unit}, or remove max_cost",
        field=where,
    )
