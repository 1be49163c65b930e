"""``holodeck status``: what is indexed, and how fresh it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from holodeck.cli.agents import load
from holodeck.cli.options import AgentOption, JsonOption, ToolOption, chosen_agent
from holodeck.cli.output import show, show_json
from holodeck.cli.session import Session
from holodeck.cli.summary import status_json, status_lines
from holodeck.cli.work import carry_out

if TYPE_CHECKING:
    from holodeck.lib.contracts import IndexStatus
    from holodeck.models.tool import VectorstoreTool

__all__ = ["status"]


def status(
    context: typer.Context,
    agent_option: AgentOption = None,
    tool_name: ToolOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is indexed and how fresh it is."""
    session: Session = context.obj
    agent = load(session, chosen_agent(agent_option))
    found: list[tuple[VectorstoreTool, IndexStatus]] = []
    for config in agent.tool_configs(tool_name):
        tool = agent.tool(config.name)
        found.append((config, tool.status()))
        carry_out(tool.close())
    if as_json:
        show_json({"tools": [status_json(config, state) for config, state in found]})
        return
    for config, state in found:
        show("\n".join([f"{config.name}: {_freshness(state)}", *status_lines(state)]))


def _freshness(state: IndexStatus) -> str:
    if state.indexed_at is None:
        return f"not indexed ({state.stale_reason})"
    if state.stale_reason is None:
        return f"up to date, indexed {state.indexed_at}"
    return f"stale ({state.stale_reason}), indexed {state.indexed_at}"
