"""One builder at a time, known by name, and never a dead one."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import holodeck
from holodeck.errors import IndexBusyError
from holodeck.lib.indexes.builder_lock import builder_lock, holder_of

HOLD = """
import asyncio, sys
from pathlib import Path
from holodeck.lib.indexes.builder_lock import builder_lock

async def hold():
    async with builder_lock(Path(sys.argv[1]), "atlas", wait_seconds=0):
        print("held", flush=True)
        sys.stdin.read()

asyncio.run(hold())
"""


@contextmanager
def held_by_another_process(lock: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds the lock until its input ends."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
    )
    with child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "held\n"
            yield child
        finally:
            child.kill()


async def test_a_second_builder_is_told_who_the_first_is(tmp_path: Path) -> None:
    """Without waiting, the error names tool, folder, process and host at once."""
    lock = tmp_path / ".lock"
    with held_by_another_process(lock) as child:
        with pytest.raises(IndexBusyError) as caught:
            async with builder_lock(lock, "atlas", wait_seconds=0):
                pytest.fail("two builders at once")

        message = str(caught.value)
        assert f"process {child.pid} on {socket.gethostname()}" in message
        assert "'atlas'" in message
        assert str(tmp_path) in message


async def test_a_dead_process_holds_no_lock(tmp_path: Path) -> None:
    """A builder that was killed is in nobody's way, and its name is forgotten."""
    lock = tmp_path / ".lock"
    with held_by_another_process(lock) as child:
        child.kill()
        child.wait()

        async with builder_lock(lock, "atlas", wait_seconds=0):
            assert f"process {os.getpid()} " in holder_of(lock)

    assert holder_of(lock) == "another process"


async def test_who_waits_gets_the_lock_when_it_is_free(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Waiting is said once, with the name, and ends when the other builder does."""
    caplog.set_level("INFO")
    lock = tmp_path / ".lock"
    order: list[str] = []

    async def wait() -> None:
        async with builder_lock(lock, "atlas", wait_seconds=60):
            order.append("second")

    async with builder_lock(lock, "atlas", wait_seconds=0):
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)  # it runs until it waits
        order.append("first")
    await waiting

    assert order == ["first", "second"]
    said = [record.getMessage() for record in caplog.records if "waiting" in record.getMessage()]
    assert len(said) == 1
    assert f"process {os.getpid()} on {socket.gethostname()}" in said[0]


async def test_who_waited_long_enough_is_told_so(tmp_path: Path) -> None:
    """Waiting has its budget, and the message names it."""
    lock = tmp_path / ".lock"
    async with builder_lock(lock, "atlas", wait_seconds=0):
        with pytest.raises(IndexBusyError, match=r"for 0\.01 s and longer"):
            async with builder_lock(lock, "atlas", wait_seconds=0.01):
                pytest.fail("two builders at once")


async def test_a_failed_build_gives_the_lock_back(tmp_path: Path) -> None:
    """An error inside frees the lock for the next."""
    lock = tmp_path / ".lock"
    with pytest.raises(ZeroDivisionError):
        async with builder_lock(lock, "atlas", wait_seconds=0):
            raise ZeroDivisionError

    async with builder_lock(lock, "atlas", wait_seconds=0):
        pass
