"""``holodeck search``: one question to one tool."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from holodeck.cli.agents import check_agent, load
from holodeck.cli.on_demand import open_indexes, tell_of_indexes
from holodeck.cli.options import AgentOption, JsonOption, NoIndexOption, ToolOption, chosen_agent
from holodeck.cli.output import say, show, show_json
from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session
from holodeck.cli.work import carry_out
from holodeck.errors import ConfigError
from holodeck.lib.questions import refuse_blank

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = ["search"]


@dataclass(frozen=True, kw_only=True)
class _Question:
    query: str
    mode: str | None
    only_context: bool
    no_index: bool
    as_json: bool


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question")],
    agent_option: AgentOption = None,
    tool_name: ToolOption = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE", help="How to search, as 'local' or 'global' [default: the tool's]"
        ),
    ] = None,
    only_context: Annotated[
        bool, typer.Option("--context", help="Print what an answer would be made from; make none")
    ] = False,
    no_index: NoIndexOption = False,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="NAME=VALUE",
            help="Look only where this holds: path (a pattern), page, row, id, a field; repeat it",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask one question, after indexing what changed."""
    session: Session = context.obj
    refuse_blank(query)
    agent = load(session, chosen_agent(agent_option))
    name = agent.tool_config(tool_name).name
    if filters:
        agent = agent.filtered(name, _filter(filters))
    if not no_index:
        check_agent(agent, name, to_write=False)
    question = _Question(
        query=query, mode=mode, only_context=only_context, no_index=no_index, as_json=as_json
    )
    carry_out(_ask(session, agent, name, question))


def _filter(words: list[str]) -> dict[str, str]:
    wanted: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"{word!r} is no filter: write NAME=VALUE, as path=people/*")
        if name.strip() in wanted:
            raise typer.BadParameter(
                f"{name.strip()!r} has two conditions, and a passage has one value: leave one out"
            )
        wanted[name.strip()] = value
    return wanted


async def _ask(session: Session, agent: LoadedAgent, name: str, question: _Question) -> None:
    async with AsyncExitStack() as stack:
        with show_progress(session) as on_progress:
            tool: VectorStoreTool = agent.tool(
                name, on_progress=on_progress, wait_for_builder=False
            )
            stack.push_async_callback(tool.close)
            _check_mode(tool, question.mode)
            await open_indexes(session, agent, [tool], no_index=question.no_index)
        tell_of_indexes(session, [tool], no_index=question.no_index)
        await _answer(tool, question)


def _check_mode(tool: VectorStoreTool, mode: str | None) -> None:
    modes = tool.engine.modes
    if mode is not None and mode not in modes:
        raise ConfigError(
            f"tool {tool.config.name!r} (engine: {tool.config.engine}) has no search mode "
            f"{mode!r}: use one of {', '.join(modes)}"
        )


async def _answer(tool: VectorStoreTool, question: _Question) -> None:
    if not (question.only_context or question.as_json):
        show(await tool.search(question.query, mode=question.mode))
        return
    from holodeck.lib.results import as_json

    result = await tool.retrieve(
        question.query, mode=question.mode, answer=not question.only_context
    )
    if question.as_json:
        show_json(as_json(result))
        return
    sources = dict.fromkeys(f"- {source}" for source in result.sources)
    listed = ["", "Sources:", *sources] if sources else []
    # Where there is no context, the response says why.
    show("\n".join([result.context.rstrip() or result.response, *listed]))
    for note in result.notes:
        say(f"note: {note}")
