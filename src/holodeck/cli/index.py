"""``holodeck index``: build the indexes of an agent's tools, or bring them up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holodeck.cli.agents import check_agent, load, with_what_is_left
from holodeck.cli.cost_lines import estimate_json, estimate_lines, most_json, most_line
from holodeck.cli.options import (
    AgentArgument,
    AgentOption,
    JsonOption,
    MaxCostOption,
    ToolOption,
    chosen_agent,
)
from holodeck.cli.output import show, show_json
from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session
from holodeck.cli.summary import status_json, status_lines
from holodeck.cli.work import carry_out

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.contracts import Estimate, IndexStatus, RetryFailed
    from holodeck.models.tool import VectorstoreTool

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
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Say what the build will cost, and build nothing"),
    ] = False,
    max_cost: MaxCostOption = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait while another process builds the same index")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the agent's indexes, or bring them up to date."""
    from holodeck.lib.spending import total

    session: Session = context.obj
    file = chosen_agent(agent_option, agent_argument)
    agent = load(session, file, says_phases=True, max_cost=max_cost)
    configs = agent.tool_configs(tool_name)
    if no_cache:
        agent, force = agent.renewing_replies(), True
    retried: RetryFailed = True if retry_failed else "passing"
    if estimate:
        _estimate(agent, configs, force=force, retried=retried, as_json=as_json)
        return
    check_agent(agent, tool_name)
    done: list[dict[str, Any]] = []  # Any: JSON
    for config in configs:
        built, state = carry_out(
            _index(session, agent, config.name, force=force, retried=retried, wait=wait)
        )
        if built and state.spending is not None:
            agent = with_what_is_left(agent, total(state.spending.build).cost)
        done.append({**status_json(config, state), "built": built})
        if not as_json:
            what = "indexed" if built else "up to date"
            show("\n".join([f"{config.name}: {what}", *status_lines(state)]))
    if as_json:
        show_json({"tools": done})


def _estimate(
    agent: LoadedAgent,
    configs: Sequence[VectorstoreTool],
    *,
    force: bool,
    retried: RetryFailed,
    as_json: bool,
) -> None:
    """Say what building each tool's index will cost."""
    found: list[dict[str, Any]] = []  # Any: JSON
    estimates: list[Estimate] = []
    for config in configs:
        estimate = carry_out(_estimated(agent, config.name, force=force, retried=retried))
        estimates.append(estimate)
        found.append({"name": config.name, **estimate_json(estimate)})
        if not as_json:
            why = f"would be built ({estimate.reason})" if estimate.reason else "up to date"
            show("\n".join([f"{config.name}: {why}", *estimate_lines(estimate)]))
    if as_json:
        show_json({"tools": found, "at_most": most_json(estimates)})
    elif sum(estimate.reason is not None for estimate in estimates) > 1:
        show(most_line(estimates))


async def _estimated(
    agent: LoadedAgent, name: str, *, force: bool, retried: RetryFailed
) -> Estimate:
    tool = agent.tool(name)
    try:
        estimate: Estimate = await tool.estimate(force_ingest=force, retry_failed=retried)
        return estimate
    finally:
        await tool.close()


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
