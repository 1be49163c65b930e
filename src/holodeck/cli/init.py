"""``holodeck init``: a new agent with sample documents and test cases."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import typer

from holodeck.cli.options import JsonOption
from holodeck.cli.output import say, show, show_json
from holodeck.cli.session import Session

__all__ = ["init"]


class Template(StrEnum):
    """``config.templates.TEMPLATES``, which is heavier to import."""

    graphrag = "graphrag"
    vector = "vector"


class Provider(StrEnum):
    """``models.llm.PROVIDERS``, which is heavier to import."""

    embedded = "embedded"
    openai = "openai"
    azure_openai = "azure_openai"
    ollama = "ollama"


def init(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where to make it")] = ".",
    template: Annotated[
        Template, typer.Option(help="A knowledge graph, or vector and full-text search")
    ] = Template.graphrag,
    provider: Annotated[
        Provider, typer.Option(help="Whose models; 'embedded' needs no key and no network")
    ] = Provider.embedded,
    as_json: JsonOption = False,
) -> None:
    """Make a working agent with sample documents and test cases."""
    from holodeck.config.templates import make_agent

    session: Session = context.obj
    made = make_agent(folder, template.value, provider.value)
    if as_json:
        show_json({"folder": str(made.folder), "files": [str(file) for file in made.files]})
    else:
        show("\n".join(f"made {file}" for file in made.files))
    if made.kept_ignore_file is not None:
        say(f"warning: {made.kept_ignore_file} was left as it is: add '.holodeck/' and '.env'")
    if not session.is_quiet:
        say(f"next: {_next_commands(folder, provider)}")


def _next_commands(folder: str, provider: Provider) -> str:
    place = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    check = "holodeck validate && holodeck index && holodeck test"
    if provider is Provider.embedded:
        return f"{place}{check}"
    return f"{place}cp .env.example .env, fill it in, then {check}"
