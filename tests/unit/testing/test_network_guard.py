"""No test reaches the real network."""

from __future__ import annotations

import socket

import pytest

from holodeck.testing import ModelServer


def test_an_address_outside_is_refused(refused_hosts: list[str]) -> None:
    """A connection to any address but loopback raises before a packet is sent."""
    with socket.socket() as client, pytest.raises(AssertionError, match=r"192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))

    assert refused_hosts == ["192.0.2.1"]
    refused_hosts.clear()


def test_a_name_outside_is_not_looked_up(refused_hosts: list[str]) -> None:
    """No name but localhost is resolved."""
    with pytest.raises(AssertionError, match=r"example\.com"):
        socket.getaddrinfo("example.com", 80)

    assert refused_hosts == ["example.com"]
    refused_hosts.clear()


def test_loopback_is_open(model_server: ModelServer) -> None:
    """A server on this machine can be reached."""
    host, port = model_server.root.removeprefix("http://").split(":")

    with socket.create_connection((host, int(port)), timeout=5) as client:
        assert client.getpeername() == ("127.0.0.1", int(port))
