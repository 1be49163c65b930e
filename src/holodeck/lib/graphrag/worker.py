"""The child process that builds a generation: the library's side effects stay in it.

It reads one JSON order from standard input, writes one JSON event a line to the descriptor that
was its standard output, and ends when its parent does (standard input reaches its end).
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

from holodeck import errors
from holodeck.lib.contracts import Progress, Spending
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.library import bare_process, quiet_environment
from holodeck.lib.graphrag.order import BuildOrder, run_order
from holodeck.lib.indexes.ledger import LEDGER_FILE, Bookkeeper, Ledger
from holodeck.lib.resources import Resources

__all__ = ["main"]


def main() -> int:
    """Carry out the order on standard input; 0 when the generation stands."""
    quiet_environment()
    bare_process()
    events = _private_stdout()
    order = BuildOrder.from_json(sys.stdin.readline())
    resources = Resources(
        order.execution,
        environ={**os.environ, **order.environ},
        cache_dir=order.cache_dir,
    )
    keeper = Bookkeeper(Ledger(order.storage_dir / LEDGER_FILE), resources.meter.rows)
    threading.Thread(target=_end_with_parent, args=(keeper,), daemon=True).start()
    _log_to(order.log_file)
    send = _sender(events)
    try:
        build, taken = asyncio.run(_carry_out(order, resources, keeper, send))
    except errors.HolodeckError as error:
        logging.getLogger(__name__).debug("the build failed", exc_info=True)
        send({"event": "error", "type": type(error).__name__, "message": str(error)})
        return 1
    for failure in build.failures:  # one line each: all in one may be too long for the pipe
        send({"event": "failure", "failure": asdict(failure)})
    account = asdict(replace(build.account, failures=()))
    send(
        {
            "event": "done",
            "counts": build.counts,
            "warnings": build.warnings,
            "calls": {purpose: spent.calls for purpose, spent in resources.meter.usage().items()},
            "account": account,
            "spending": asdict(Spending(build=keeper.spent, taken=taken)),
        }
    )
    return 0


async def _carry_out(
    order: BuildOrder,
    resources: Resources,
    keeper: Bookkeeper,
    send: Callable[[dict[str, Any]], None],
) -> tuple[Build, int]:
    """Return what was built, and how many kept replies it was made of."""

    def report(progress: Progress) -> None:
        keeper.note_now_and_then()
        send({"event": "progress", **asdict(replace(progress, spent=keeper.total))})

    try:
        with _noting_uses(order, resources) as taken:
            build = await run_order(order, resources, report)
            return build, taken()
    finally:
        keeper.note()
        await resources.close()


def _noting_uses(
    order: BuildOrder, resources: Resources
) -> AbstractContextManager[Callable[[], int]]:
    graphrag = order.resolved.tool.graphrag
    models = [order.resolved.embedding, graphrag.indexing_model if graphrag else None]
    if any(model is not None and resources.reach.is_served(model) for model in models):
        return resources.paid.used_by(order.storage_dir, order.output.name)
    return nullcontext(lambda: 0)  # what is in this process is not kept


def _private_stdout() -> TextIO:
    """Keep the real standard output for events; what the library prints goes to stderr."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return events


def _sender(events: TextIO) -> Callable[[dict[str, Any]], None]:
    lock = threading.Lock()

    def send(event: dict[str, Any]) -> None:
        with lock:
            events.write(json.dumps(event) + "\n")

    return send


def _end_with_parent(keeper: Bookkeeper) -> None:
    sys.stdin.read()
    keeper.note()
    os._exit(1)


def _log_to(path: Path) -> None:
    logging.basicConfig(
        filename=path,
        encoding="utf-8",
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


if __name__ == "__main__":
    sys.exit(main())
