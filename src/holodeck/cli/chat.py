"""``holodeck chat``: talk to the agent, and see what it does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from holodeck.cli.agents import check_talking_agent, load
from holodeck.cli.interrupts import raise_interrupts
from holodeck.cli.on_demand import open_indexes, tell_of_indexes
from holodeck.cli.options import (
    AgentArgument,
    AgentOption,
    ForceFirstOption,
    JsonOption,
    NoIndexOption,
    chosen_agent,
    refuse_contradiction,
)
from holodeck.cli.output import guarded_results
from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.test_runner.agent_factory import Agent

__all__ = ["chat"]


def chat(
    context: typer.Context,
    agent_argument: AgentArgument = None,
    agent_option: AgentOption = None,
    message: Annotated[
        str | None, typer.Option("-m", "--message", metavar="TEXT", help="Say this and leave")
    ] = None,
    force: ForceFirstOption = False,
    no_index: NoIndexOption = False,
    as_json: JsonOption = False,
) -> None:
    """Talk to the agent, after indexing what changed."""
    from holodeck.cli.talk import Talk
    from holodeck.lib.questions import check_question

    session: Session = context.obj
    if message is not None:
        check_question(message)
    refuse_contradiction(force=force, no_index=no_index)
    loaded = load(session, chosen_agent(agent_option, agent_argument))
    check_talking_agent(loaded)
    with raise_interrupts(), asyncio.Runner() as runner:
        with guarded_results():
            agent = _prepared(session, loaded, runner, force=force, no_index=no_index)
        try:
            talk = Talk(session, agent, runner, as_json=as_json)
            code = talk.say_once(message) if message is not None else talk.go_on()
        finally:
            runner.run(agent.close())
    if code:
        raise typer.Exit(code)


def _prepared(
    session: Session,
    loaded: LoadedAgent,
    runner: asyncio.Runner,
    *,
    force: bool,
    no_index: bool,
) -> Agent:
    """Return the agent with every index open: nothing is built inside the first question."""
    from holodeck.lib.test_runner.agent_factory import create_agent

    with show_progress(session) as on_progress:
        agent = create_agent(loaded, on_progress=on_progress, wait_for_builder=False)
        try:
            runner.run(
                open_indexes(session, loaded, agent.search_tools, force=force, no_index=no_index)
            )
        except BaseException:
            runner.run(agent.close())
            raise
    tell_of_indexes(session, agent.search_tools, no_index=no_index)
    return agent
