"""The commands and the options before them."""

from __future__ import annotations

from typing import Annotated

import typer

import holodeck
from holodeck.cli.cache import cache
from holodeck.cli.chat import chat
from holodeck.cli.index import index
from holodeck.cli.init import init
from holodeck.cli.logs import start_logging
from holodeck.cli.output import show
from holodeck.cli.schema import schema
from holodeck.cli.search import search
from holodeck.cli.session import Session
from holodeck.cli.status import status
from holodeck.cli.test import test
from holodeck.cli.validate import validate

__all__ = ["app"]

app = typer.Typer(
    name="holodeck",
    help="Declare an agent in YAML and have it answer from your own documents.",
    epilog=(
        "Exit codes: 0 fine, 1 a test case failed, 2 configuration, 3 execution, 4 evaluation, "
        "5 cost limit, 130 interrupted."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # help is plain text: fast, and the same in every locale
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        show(f"holodeck {holodeck.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say every step")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say warnings only")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version"),
    ] = False,
) -> None:
    """Take the options that stand before the command."""
    session: Session = context.obj
    if verbose and quiet:
        raise typer.BadParameter("-v and -q exclude each other: give one")
    if verbose or quiet:
        session.verbosity = "verbose" if verbose else "quiet"
    start_logging(session.verbosity)


for command in (init, validate, index, search, chat, test, status, schema):
    app.command()(command)
app.add_typer(cache)
