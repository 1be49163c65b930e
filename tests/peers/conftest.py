"""Servers that others wrote: each in a virtual environment of its own, started for a module."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

PEERS = os.environ.get("HOLODECK_PEERS")
_START_SECONDS = 90

StartPeer = Callable[..., str]


@pytest.fixture(scope="module")
def start_peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartPeer]:
    """Return a function that starts a peer's command and returns its URL; all end with the module.

    ``{port}`` in the command is a free one; the variables are all that the server is given.
    """
    if PEERS is None:
        pytest.skip("set HOLODECK_PEERS to the folder of install.sh")
    with ExitStack() as stack:

        def start(peer: str, program: str, *words: str, **variables: str) -> str:
            executable = Path(str(PEERS)).absolute() / peer / "bin" / program
            if not executable.exists():
                pytest.skip(f"install.sh did not install {peer} in {PEERS}")
            folder, port = tmp_path_factory.mktemp(peer), _free_port()
            command = [str(executable), *(word.format(port=port) for word in words)]
            log = folder / "log.txt"
            out = stack.enter_context(log.open("wb"))
            environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
            process = subprocess.Popen(command, cwd=folder, env=environ, stdout=out, stderr=out)
            stack.callback(_end, process)
            _wait_for(process, port, log)
            return f"http://127.0.0.1:{port}"

        yield start


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text("utf-8", "replace")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(log.read_text("utf-8", "replace"))
