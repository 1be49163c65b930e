"""One builder at a time for each index, and who it is."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from holodeck.errors import ConfigError, IndexBusyError
from holodeck.lib.indexes.set_aside import set_aside

__all__ = ["WAIT_SECONDS", "builder_lock", "holder_of"]

logger = logging.getLogger(__name__)

WAIT_SECONDS = 600.0
"""How long a build waits for another one where ``execution.index_timeout`` sets no limit."""

_LOOK_AGAIN_SECONDS = 0.2


@asynccontextmanager
async def builder_lock(path: Path, tool_name: str, *, wait_seconds: float) -> AsyncIterator[None]:
    """Be the only builder of an index; a process that dies gives the lock back.

    Args:
        path: The lock's file, in the index's folder.
        tool_name: Whose index it is, for messages.
        wait_seconds: How long to wait for another builder; 0 does not wait.

    Raises:
        IndexBusyError: Another one builds still; the message says which process on which host.
        ConfigError: This user may not build here.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + wait_seconds
    is_waiting = False
    while not _acquire(lock):
        if time.monotonic() >= deadline:
            raise IndexBusyError(_message(path, tool_name, wait_seconds))
        if not is_waiting:
            is_waiting = True
            logger.info(
                "waiting for %s, which is building the index of tool %r", holder_of(path), tool_name
            )
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    holder = _holder_file(path)
    try:
        _write_holder(holder)
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _acquire(lock: FileLock) -> bool:
    path = Path(lock.lock_file)
    if path.is_dir():
        set_aside(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be locked ({error.strerror or error}): let this user write to the "
            "folder of the index and to that file"
        ) from error
    return True


def holder_of(path: Path) -> str:
    """Return who holds the lock, as far as it is known: ``process 12 on host (since …)``."""
    try:
        holder = json.loads(_holder_file(path).read_text(encoding="utf-8"))
        return f"process {holder['pid']} on {holder['host']} (since {holder['since']})"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"  # it has the lock and has not written its name yet


def _holder_file(path: Path) -> Path:
    # Not the lock's own file: whoever tries to lock may empty that.
    return path.with_name(f"{path.name}.holder")


def _write_holder(path: Path) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": now}
    path.write_text(json.dumps(holder), encoding="utf-8")


def _message(path: Path, tool_name: str, waited: float) -> str:
    tried = f", for {waited:g} s and longer" if waited else ""
    return (
        f"the index of tool {tool_name!r} in {path.parent} is being built by {holder_of(path)}"
        f"{tried}: try again when it has ended, or let 'holodeck index --wait' wait for it"
    )
