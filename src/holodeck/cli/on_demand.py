"""The indexes that a search, a chat or a test needs: what they cost, whether they are built."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holodeck.cli.cost_lines import estimate_lines
from holodeck.cli.output import say
from holodeck.cli.session import Session
from holodeck.cli.summary import counted
from holodeck.errors import IndexingError

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.contracts import Estimate
    from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = ["agree_on_cost", "built_for", "is_asked_for", "open_indexes", "tell_of_indexes"]


async def open_indexes(
    session: Session,
    agent: LoadedAgent,
    tools: Sequence[VectorStoreTool],
    *,
    force: bool = False,
    no_index: bool = False,
) -> None:
    """Open the tools' indexes: as they are, or after building what changed.

    Args:
        session: This call of the command line.
        agent: Whose tools they are.
        tools: None of them open.
        force: Build also what is up to date.
        no_index: Build nothing.

    Raises:
        SearchError: ``no_index``, and a tool has no index.
        IndexingError: One could not be built, or the user would not have it.
    """
    if not no_index:
        await agree_on_cost(session, agent, tools, force=force)
    for tool in tools:
        if no_index:
            await tool.open_existing()
        else:
            await tool.initialize(force_ingest=force)


def built_for(tools: Sequence[VectorStoreTool]) -> float:
    """Return what bringing the open tools' indexes up to date just cost, in USD."""
    from holodeck.lib.spending import total

    built = [tool.status().spending for tool in tools if tool.engine.was_built]
    return sum(total(spending.build).cost for spending in built if spending is not None)


def tell_of_indexes(
    session: Session, tools: Sequence[VectorStoreTool], *, no_index: bool = False
) -> None:
    """Say what was built and what is not in it, or, with ``no_index``, what was left stale."""
    for tool in tools:
        if not (no_index or tool.engine.was_built):
            continue  # up to date; a look at its documents would be a second one
        state = tool.status()
        if no_index:
            if state.stale_reason is not None:
                say(
                    f"warning: the index is stale ({state.stale_reason}): bring it up to date with "
                    "'holodeck index'"
                )
            continue
        if not session.is_quiet:
            say(f"indexed {counted(state)}")
        for path, reason in state.skipped.items():
            say(f"warning: skipped {path}: {reason}")
        for warning in state.warnings:
            say(f"warning: {warning}")


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
