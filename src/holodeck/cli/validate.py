"""``holodeck validate``: is an agent fit to work?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from holodeck.cli.agents import check_whole_agent, load
from holodeck.cli.options import AgentArgument, AgentOption, JsonOption, chosen_agent
from holodeck.cli.output import show, show_json
from holodeck.cli.session import Session

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent

__all__ = ["validate"]


def validate(
    context: typer.Context,
    agent_argument: AgentArgument = None,
    agent_option: AgentOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check YAML, paths, keys and packages; call no model."""
    session: Session = context.obj
    agent = load(session, chosen_agent(agent_option, agent_argument), says_phases=True)
    check_whole_agent(agent)
    summary = _summary(agent)
    if as_json:
        show_json(summary)
        return
    show(f"ok: {agent.file}")
    show(f"  agent {summary['agent']}, provider {summary['provider']}")
    for tool in summary["tools"]:
        show(f"  tool {tool['name']} ({tool['engine']}): {tool['source']}")
    for function in summary["functions"]:
        show(f"  tool {function['name']} (function): {function['function']}")


def _summary(agent: LoadedAgent) -> dict[str, Any]:  # Any: JSON
    from holodeck.lib.paths import resolve_source, resolve_storage_dir

    return {
        "ok": True,
        "file": str(agent.file),
        "agent": agent.config.name,
        "provider": agent.config.model.provider,
        "tools": [
            {
                "name": tool.name,
                "engine": tool.engine,
                "source": str(resolve_source(tool, agent.base_dir)),
                "location": str(resolve_storage_dir(tool, agent.base_dir)),
            }
            for tool in agent.config.vectorstore_tools
        ],
        "functions": [
            {"name": tool.name, "function": tool.function} for tool in agent.config.function_tools
        ],
    }
