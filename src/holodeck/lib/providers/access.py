"""How a provider reaches one model: everything that its client is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from holodeck.errors import MissingKeyError
from holodeck.lib.prices import Price
from holodeck.models.texts import check_key

__all__ = ["ModelAccess", "find_key"]


@dataclass(frozen=True, kw_only=True)
class ModelAccess:
    """One model and how to reach it, nothing left to fill in.

    Attributes:
        provider: A key of ``PROVIDER_TABLE``.
        name: The model.
        api_key: ``None`` where the provider needs none.
        api_base: URL of the server; ``None`` for the vendor's own.
        timeout: Seconds for one call.
        concurrency: Calls in flight at once.
        max_retries: Times that a failed call is tried again.
        retry_budget: Seconds that the waits between the tries of one call may add up to.
        where: Dotted path of the setting that chose the model, for messages.
        timeout_setting: Name of the setting that ``timeout`` came from, for messages.
        dimensions: Width of the vectors to ask for; ``None``: the model's own.
        context_size: Tokens of context that Ollama is asked for; ``None``: as many as are needed.
        price: What its calls cost; ``None``: nobody knows.
    """

    provider: str
    name: str
    api_key: SecretStr | None = None
    api_base: str | None = field(default=None, repr=False)  # may hold user:password@
    api_version: str | None = None
    deployment_name: str | None = None
    timeout: float = 60.0
    concurrency: int = 25
    max_retries: int = 5
    retry_budget: float = 120.0
    where: str = "model"
    timeout_setting: str = "execution.llm_timeout"
    dimensions: int | None = None
    context_size: int | None = None
    price: Price | None = None


def find_key(
    given: SecretStr | None,
    variable: str | None,
    environ: Mapping[str, str],
    *,
    provider: str,
    where: str,
) -> SecretStr | None:
    """Return the key that the settings give, else that of the provider's variable.

    Args:
        given: What the settings say.
        variable: Where else it is looked for; ``None``: the provider needs none.
        environ: The variables.
        provider: For the message.
        where: Dotted path of the setting that chose the model, for the message.

    Raises:
        MissingKeyError: There is none, and the provider needs one.
    """
    if given is not None:
        return SecretStr(given.get_secret_value().strip())
    if variable is None:
        return None
    key = environ.get(variable)
    problem = "is not set" if key is None else check_key(key)
    if key is None or problem is not None:
        raise MissingKeyError(
            f"API key required for {provider}: the environment variable {variable} {problem}, and "
            f"{where}.api_key is not given. Set one of them; a server of your own that needs no "
            "key takes any text",
            field=f"{where}.api_key",
        )
    return SecretStr(key.strip())
