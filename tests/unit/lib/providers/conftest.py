"""Access to the loopback server, and requests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import SecretStr

from holodeck.lib.contracts import ChatRequest, Message
from holodeck.lib.providers.access import ModelAccess
from holodeck.testing import ModelServer


@pytest.fixture
def access(model_server: ModelServer) -> ModelAccess:
    """Return access to the server's model ``m``; a test changes it by ``dataclasses.replace``."""
    return ModelAccess(
        provider="openai", name="m", api_key=SecretStr("sk-test"), api_base=model_server.url
    )


@pytest.fixture
def ask() -> Callable[..., ChatRequest]:
    """Return a function that makes a request of one user message."""

    def make(text: str = "hi", **more: object) -> ChatRequest:
        return ChatRequest(messages=(Message(role="user", content=text),), **more)  # type: ignore[arg-type]  # fields of ChatRequest

    return make
