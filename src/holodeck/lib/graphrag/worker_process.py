"""The parent's side of a build: start the child, hand it the order, hear of its progress."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from holodeck import errors
from holodeck.lib.contracts import BuildAccount, Failure, Progress, ProgressListener, Spending
from holodeck.lib.graphrag.order import BuildOrder

__all__ = ["BuildOutcome", "build_environment", "build_in_child"]

LONGEST_EVENT = 1 << 20
Event = TypeVar("Event")

_GRACE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class BuildOutcome:
    """What a build came to.

    Attributes:
        counts: What the steps counted.
        warnings: What the user should know.
        calls: Answered model calls by purpose; what was kept from before is not among them.
        account: What became of every piece.
        spending: What another process spent on it, and took from what was kept.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    calls: Mapping[str, int] = field(default_factory=dict)
    account: BuildAccount = field(default_factory=BuildAccount)
    spending: Spending = field(default_factory=Spending)


async def build_in_child(order: BuildOrder, on_progress: ProgressListener) -> BuildOutcome:
    """Build a generation in a child process.

    The child ends when this is cancelled, and when this process dies.

    Raises:
        IndexingError: The build failed, or the child died.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "holodeck.lib.graphrag.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LONGEST_EVENT,
        env=build_environment(),
        start_new_session=True,  # Ctrl-C reaches the parent alone, which then ends the child
    )
    failures: list[Failure] = []
    complaints = asyncio.create_task(_tail(child))
    try:
        if child.stdin is None or child.stdout is None:
            raise errors.IndexingError("the build process has no pipes: please report this")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            child.stdin.write((order.to_json() + "\n").encode("utf-8"))
            await child.stdin.drain()
        async for line in child.stdout:
            event = json.loads(line)
            if event["event"] == "progress":
                del event["event"]
                on_progress(_read(Progress, event))
            elif event["event"] == "error":
                raise _error(event["type"], event["message"])
            elif event["event"] == "failure":
                failures.append(Failure(**event["failure"]))
            else:
                return BuildOutcome(
                    counts=event["counts"],
                    warnings=tuple(event["warnings"]),
                    calls=event["calls"],
                    account=BuildAccount(**{**event["account"], "failures": tuple(failures)}),
                    spending=_read(Spending, event["spending"]),
                )
        await child.wait()
        raise errors.IndexingError(
            f"the build process ended without a result (exit code {child.returncode}): "
            f"{await complaints or 'it said nothing'}. Its log is {order.log_file}; run "
            "'holodeck index' again to go on"
        )
    finally:
        await _end(child)
        complaints.cancel()


def _read(kind: type[Event], content: dict[str, Any]) -> Event:
    """Return what the child made JSON of."""
    read: Event = _reader(kind).validate_python(content)  # type: ignore[arg-type]  # a class is hashable
    return read


@cache
def _reader(kind: type[Any]) -> TypeAdapter[Any]:  # Any: the kind
    return TypeAdapter(kind)


def build_environment() -> dict[str, str]:
    """Return the child's environment: it imports what this process imports.

    Arrow's own allocator gives each table's memory back to the system at once. A build writes and
    reads one after the other: to fault it in again was a good part of what an update takes.
    """
    paths = [path for path in sys.path if path]
    return {
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUTF8": "1",
    }


def _error(name: str, message: str) -> errors.HolodeckError:
    kind = getattr(errors, name, errors.IndexingError)
    if isinstance(kind, type) and issubclass(kind, errors.HolodeckError):
        return kind(message)
    return errors.IndexingError(message)


async def _tail(child: asyncio.subprocess.Process) -> str:
    """Return the last lines that the child wrote to stderr, once it has ended."""
    lines: list[str] = []
    if child.stderr is not None:
        async for line in child.stderr:
            lines = [*lines[-4:], line.decode("utf-8", "replace").strip()]
    return " / ".join(lines)


async def _end(child: asyncio.subprocess.Process) -> None:
    """Close the child's input, which it ends by, and wait; kill it when it does not."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        await asyncio.wait_for(child.wait(), _GRACE_SECONDS)
    except TimeoutError:
        child.kill()
        await child.wait()
