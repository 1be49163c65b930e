"""What is Azure's own: deployments, the version, the key's header, addresses from the portal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holodeck.errors import AuthenticationError, ConfigError, ProviderError
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.azure_openai import DEFAULT_API_VERSION
from holodeck.lib.resources import Resources
from holodeck.models.llm import ModelSettings
from holodeck.testing import Fault, ModelServer, ServerRequest

Ask = Callable[..., ChatRequest]

KEY = "azure-key"


def environment(server: ModelServer, **more: str) -> dict[str, str]:
    return {"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_ENDPOINT": server.root, **more}


async def ask_both(environ: dict[str, str], settings: ModelSettings, request: ChatRequest) -> None:
    resources = Resources(environ=environ)
    try:
        await resources.chat(settings, "model").complete(request)
        await resources.embedder(settings, "model").embed(["a"])
    finally:
        await resources.close()


def seen(server: ModelServer) -> list[ServerRequest]:
    assert [one.is_chat for one in server.requests] == [True, False]
    return server.requests


async def test_key_and_endpoint_come_from_the_environment(
    model_server: ModelServer, ask: Ask
) -> None:
    """The key is sent in Azure's header alone, the version is the documented one."""
    settings = ModelSettings(provider="azure_openai", name="gpt-4o")
    await ask_both(environment(model_server), settings, ask())

    for request in seen(model_server):
        assert request.path.startswith("/openai/deployments/gpt-4o/")
        assert request.query == {"api-version": DEFAULT_API_VERSION}
        assert request.headers["api-key"] == KEY
        assert "authorization" not in request.headers


async def test_a_directory_token_of_the_environment_is_not_sent(
    model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables that other tools read change nothing: what we document is what we read."""
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token")
    monkeypatch.setenv("OPENAI_API_VERSION", "1999-01-01")
    settings = ModelSettings(provider="azure_openai", name="gpt-4o")
    await ask_both(environment(model_server), settings, ask())

    for request in seen(model_server):
        assert "authorization" not in request.headers
        assert request.query == {"api-version": DEFAULT_API_VERSION}


@pytest.mark.parametrize(
    ("written", "variable", "sent"),
    [
        (None, None, DEFAULT_API_VERSION),
        (None, "2025-01-01-preview", "2025-01-01-preview"),
        ("2024-06-01", "2025-01-01-preview", "2024-06-01"),
    ],
)
async def test_the_version_is_yamls_then_the_variables_then_ours(
    model_server: ModelServer, ask: Ask, written: str | None, variable: str | None, sent: str
) -> None:
    """The nearest that says a version wins."""
    environ = environment(model_server)
    if variable is not None:
        environ["AZURE_OPENAI_API_VERSION"] = variable
    settings = ModelSettings(provider="azure_openai", name="m", api_version=written)
    await ask_both(environ, settings, ask())

    assert [request.query["api-version"] for request in seen(model_server)] == [sent, sent]


async def test_the_deployment_is_asked_and_the_models_family_counts(
    model_server: ModelServer, ask: Ask
) -> None:
    """The deployment may bear any name; which fields the model takes follows from its own."""
    settings = ModelSettings(
        provider="azure_openai", name="o3-mini", deployment_name="my deployment"
    )
    await ask_both(environment(model_server), settings, ask(max_tokens=50))

    chat, embedding = seen(model_server)
    assert (chat.model, embedding.model) == ("my deployment", "my deployment")
    assert chat.body["max_completion_tokens"] == 50


@pytest.mark.parametrize(
    "suffix",
    [
        "",
        "/",
        "/v1",
        "/v1/",
        "/openai",
        "/openai/",
        "/openai/v1/",
        "/openai/deployments/gpt-4o",
        "/openai/deployments/gpt-4o/chat/completions",
    ],
)
async def test_every_spelling_of_the_endpoint_works(
    model_server: ModelServer, ask: Ask, suffix: str
) -> None:
    """What the portal shows can be copied whole or in part."""
    settings = ModelSettings(
        provider="azure_openai", name="gpt-4o", api_base=f"{model_server.root}{suffix}"
    )
    await ask_both({"AZURE_OPENAI_API_KEY": KEY}, settings, ask())

    assert [request.path for request in seen(model_server)] == [
        "/openai/deployments/gpt-4o/chat/completions",
        "/openai/deployments/gpt-4o/embeddings",
    ]


@pytest.mark.parametrize("endpoint", [None, "", "  "])
def test_a_missing_endpoint_is_told_before_any_client(endpoint: str | None) -> None:
    """Both the setting and the variable are named; no other vendor's server stands in."""
    environ = {"AZURE_OPENAI_API_KEY": KEY}
    if endpoint is not None:
        environ["AZURE_OPENAI_ENDPOINT"] = endpoint
    settings = ModelSettings(provider="azure_openai", name="gpt-4o")

    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT") as caught:
        Resources(environ=environ).check(settings, "graphrag.search_model")

    assert caught.value.field == "graphrag.search_model.api_base"


async def test_an_unknown_deployment_names_what_to_check(ask: Ask) -> None:
    """Deployment and version are in the message, and the settings that choose them."""
    settings = ModelSettings(provider="azure_openai", name="gpt-4o", deployment_name="prod")
    with ModelServer(models=["other"]) as server, pytest.raises(ProviderError) as caught:
        await ask_both(environment(server), settings, ask())

    assert caught.value.status == 404
    for named in (
        "'prod'",
        DEFAULT_API_VERSION,
        "model.deployment_name",
        "AZURE_OPENAI_API_VERSION",
    ):
        assert named in str(caught.value)


async def test_a_wrong_key_names_azures_variable(model_server: ModelServer, ask: Ask) -> None:
    """Not the variable of another vendor."""
    model_server.fault(Fault(status=401))
    settings = ModelSettings(provider="azure_openai", name="gpt-4o")

    with pytest.raises(AuthenticationError, match=r"set AZURE_OPENAI_API_KEY or model\.api_key"):
        await ask_both(environment(model_server), settings, ask())
