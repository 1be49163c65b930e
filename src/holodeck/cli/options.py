"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "DEFAULT_AGENT",
    "AgentArgument",
    "AgentOption",
    "ForceFirstOption",
    "JsonOption",
    "MaxCostOption",
    "NoIndexOption",
    "ToolOption",
    "chosen_agent",
    "refuse_contradiction",
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
ForceFirstOption = Annotated[
    bool, typer.Option("--force", help="Build the indexes first, even when up to date")
]
NoIndexOption = Annotated[
    bool, typer.Option("--no-index", help="Build nothing: use the index that is there")
]


def _above_nothing(dollars: float | None) -> float | None:
    if dollars is not None and not 0 < dollars < float("inf"):
        raise typer.BadParameter("--max-cost is an amount of USD above 0")
    return dollars


MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        callback=_above_nothing,
        help="Stop before the call that could pass this amount",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else")
]


def refuse_contradiction(*, force: bool, no_index: bool) -> None:
    """Refuse to build and not to build.

    Raises:
        typer.BadParameter: Both are asked for.
    """
    if force and no_index:
        raise typer.BadParameter("--force and --no-index exclude each other: give one")


def chosen_agent(option: str | None, argument: str | None = None) -> str:
    """Return the agent's file that the command line names, else the default.

    Raises:
        typer.BadParameter: It names two.
    """
    if option is not None and argument is not None and option != argument:
        raise typer.BadParameter(f"two agents are named, {argument!r} and {option!r}: name one")
    return option or argument or DEFAULT_AGENT
