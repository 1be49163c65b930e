"""Before a search, a chat or a test builds an index: what that costs, and whether it shall."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holodeck.cli.cost_lines import estimate_lines
from holodeck.cli.output import say
from holodeck.cli.session import Session
from holodeck.errors import IndexingError

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.contracts import Estimate
    from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = ["agree_on_cost", "is_asked_for"]


async def agree_on_cost(
    session: Session, agent: LoadedAgent, tools: Sequence[VectorStoreTool], *, force: bool = False
) -> None:
    """Say what bringing the tools' indexes up to date will cost; ask where it is much.

    Only a terminal is asked; elsewhere ``execution.max_cost`` holds.

    Raises:
        IndexingError: The user would not have it.
    """
    for tool in tools:
        estimate = await tool.estimate(force_ingest=force)
        if estimate.reason is None or not estimate.rows:
            continue
        lines = "\n".join(
            [f"{tool.config.name}: will be built ({estimate.reason})", *estimate_lines(estimate)]
        )
        if _is_terminal() and is_asked_for(estimate, agent.config.execution.confirm_above):
            say(f"{lines}\nBuild it? [y/N]")
            if not _agrees():
                raise IndexingError(
                    f"the index of tool {tool.config.name!r} was not built, as you said: with "
                    "--no-index what is there is used, with 'holodeck index --max-cost USD' it is "
                    "built in parts"
                )
        elif not session.is_quiet:
            say(lines)


def is_asked_for(estimate: Estimate, confirm_above: float) -> bool:
    """Tell whether a build may cost more than is spent without a question."""
    if not estimate.rows:
        return False
    return estimate.cost is None or estimate.cost.high > confirm_above


def _agrees() -> bool:
    # Not typer's question: it writes to stdout too, which is for the answer alone.
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
