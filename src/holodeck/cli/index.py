"""``holodeck index``: build the indexes of an agent's tools, or bring them up to date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holodeck.cli.agents import check_agent, load
from holodeck.cli.options import AgentArgument, AgentOption, JsonOption, ToolOption, chosen_agent
from holodeck.cli.output import show, show_json
from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session
from holodeck.cli.summary import status_json, status_lines

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.contracts import IndexStatus, RetryFailed

__all__ = ["index"]


def index(
    context: typer.Context,
    agent_argument: AgentArgument = None,
    agent_option: AgentOption = None,
    tool_name: ToolOption = None,
    force: Annotated[bool, typer.Option("--force", help="Build even when up to date")] = False,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Build, and pay again for what was kept: it is replaced"),
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Ask again also for what the models refused in the last build"
        ),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait while another process builds the same index")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the agent's indexes, or bring them up to date."""
    session: Session = context.obj
    agent = load(session, chosen_agent(agent_option, agent_argument), says_phases=True)
    configs = agent.tool_configs(tool_name)
    check_agent(agent, tool_name)
    if no_cache:
        agent, force = agent.renewing_replies(), True
    done: list[dict[str, Any]] = []  # Any: JSON
    for config in configs:
        retried: RetryFailed = True if retry_failed else "passing"
        built, state = asyncio.run(
            _index(session, agent, config.name, force=force, retried=retried, wait=wait)
        )
        done.append({**status_json(config, state), "built": built})
        if not as_json:
            what = "indexed" if built else "up to date"
            show("\n".join([f"{config.name}: {what}", *status_lines(state)]))
    if as_json:
        show_json({"tools": done})


async def _index(
    session: Session,
    agent: LoadedAgent,
    name: str,
    *,
    force: bool,
    retried: RetryFailed,
    wait: bool,
) -> tuple[bool, IndexStatus]:
    """Return whether the tool's index was built, and what it holds."""
    with show_progress(session) as on_progress:
        tool = agent.tool(name, on_progress=on_progress, wait_for_builder=wait)
        try:
            await tool.initialize(force_ingest=force, retry_failed=retried)
            return tool.engine.was_built, tool.status()
        finally:
            await tool.close()
