"""What every test stands on: no network but loopback, and a model's server."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from holodeck.testing import ModelServer

settings.register_profile("same", derandomize=True)
"""The same examples in every run; without it each run draws others, which may find what is new."""

_refused: list[str] = []
"""Hosts that a test tried to reach; a client may have swallowed the refusal."""


class NetworkRefusedError(AssertionError):
    """A test tried to leave the machine."""


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        address = arguments[1]
        if not isinstance(address, tuple):  # a Unix socket's path
            return
        host = address[0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_loopback(host):
        _refused.append(str(host))
        raise NetworkRefusedError(f"tests may not leave this machine; one asked for {host!r}")


sys.addaudithook(_refuse_network)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell lets its background jobs ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)  # our children would inherit that


@pytest.fixture
def refused_hosts() -> list[str]:
    """Return the hosts that were refused so far; a test that provokes a refusal clears it."""
    return _refused


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    """Fail a test that tried to leave the machine, even where a client hid the refusal."""
    _refused.clear()
    yield
    hosts, _refused[:] = list(_refused), []
    assert not hosts, f"the test asked for {hosts}: no network in tests"


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """Return a healthy model's server on loopback."""
    with ModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _asyncio_as_it_was() -> Iterator[None]:
    """Fail a test that lets the graph library into this process: it replaces asyncio's loop."""
    yield
    assert asyncio.run.__module__ == "asyncio.runners", "build in a process of its own"


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Undo what a command that ran in this process set up: its log level would hide others'."""
    logger = logging.getLogger("holodeck")
    level, handlers, propagate = logger.level, list(logger.handlers), logger.propagate
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers
    logger.propagate = propagate
