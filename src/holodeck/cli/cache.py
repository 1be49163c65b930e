"""``holodeck cache``: the replies and vectors that were paid for and are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from holodeck.cli.agents import load
from holodeck.cli.options import AgentOption, JsonOption, chosen_agent
from holodeck.cli.output import show, show_json
from holodeck.cli.session import Session

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.reply_caches import CacheInfo

__all__ = ["cache"]

cache = typer.Typer(
    name="cache",
    help="Say what was paid for and is kept, or drop what no index uses.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@cache.command()
def info(
    context: typer.Context, agent_option: AgentOption = None, as_json: JsonOption = False
) -> None:
    """Say what is kept: size and entries, by kind and model."""
    from holodeck.lib.reply_caches import cache_info

    session: Session = context.obj
    agent = load(session, chosen_agent(agent_option))
    found = [cache_info(folder) for folder in _caches(agent)]
    if as_json:
        show_json({"caches": [_as_json(each) for each in found]})
        return
    show("\n".join(line for each in found for line in _lines(each)) or "the agent has no index")


@cache.command()
def prune(
    context: typer.Context, agent_option: AgentOption = None, as_json: JsonOption = False
) -> None:
    """Drop what no index uses that is still there; an unfinished build counts as one."""
    from holodeck.lib.reply_caches import cache_info, prune_cache

    session: Session = context.obj
    agent = load(session, chosen_agent(agent_option))
    done: list[dict[str, Any]] = []  # Any: JSON
    lines: list[str] = []
    for folder, indexes in _caches(agent).items():
        dropped = prune_cache(folder, indexes)
        left = cache_info(folder)
        done.append({**_as_json(left), "dropped": asdict(dropped)})
        lines += [
            f"{left.file}: {dropped.entries:,} entries dropped ({_size(dropped.size_bytes)})",
            *list(_lines(left))[1:],
        ]
    if as_json:
        show_json({"caches": done})
        return
    show("\n".join(lines) or "the agent has no index")


def _caches(agent: LoadedAgent) -> dict[Path, list[Path]]:
    """Return each folder of replies that the agent's tools use, with the folders of its indexes."""
    caches: dict[Path, list[Path]] = {}
    for config in agent.config.vectorstore_tools:
        places = agent.tool(config.name).engine.places
        caches.setdefault(places.replies, []).append(places.index)
    return caches


def _lines(info: CacheInfo) -> Iterator[str]:
    if not info.file_bytes:
        yield f"{info.file}: nothing is kept yet"
        return
    total = sum(each.entries for each in info.kept)
    yield f"{info.file}: {total:,} entries, {_size(info.file_bytes)} on the disk"
    for each in info.kept:
        yield (
            f"  {each.kind} of {each.model or 'a model that is not known'}: {each.entries:,} "
            f"({_size(each.size_bytes)})"
        )
    for index in info.indexes:
        yield f"  used by {index}"
    for index in info.gone:
        yield f"  used by {index}, which is gone: 'holodeck cache prune' drops what it alone used"


def _as_json(info: CacheInfo) -> dict[str, Any]:  # Any: JSON
    return {**asdict(info), "file": str(info.file)}


def _size(size: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
