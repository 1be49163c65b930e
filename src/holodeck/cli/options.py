"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "DEFAULT_AGENT",
    "AgentArgument",
    "AgentOption",
    "JsonOption",
    "ToolOption",
    "chosen_agent",
]

DEFAULT_AGENT = "agent.yaml"

AgentOption = Annotated[
    str | None,
    typer.Option(
        "-a", "--agent", metavar="FILE", help=f"The agent's YAML file  [default: {DEFAULT_AGENT}]"
    ),
]
AgentArgument = Annotated[
    str | None, typer.Argument(metavar="AGENT", help="The same as --agent", show_default=False)
]
ToolOption = Annotated[
    str | None,
    typer.Option("--tool", metavar="NAME", help="The tool, where the agent has several"),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else")
]


def chosen_agent(option: str | None, argument: str | None = None) -> str:
    """Return the agent's file that the command line names, else the default.

    Raises:
        typer.BadParameter: It names two.
    """
    if option is not None and argument is not None and option != argument:
        raise typer.BadParameter(f"two agents are named, {argument!r} and {option!r}: name one")
    return option or argument or DEFAULT_AGENT
