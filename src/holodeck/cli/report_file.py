"""The file that a report of test cases is written to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from holodeck.errors import EvaluationError
from holodeck.lib.whole_text import write_whole

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.test_runner.scores import RunResult

__all__ = ["ReportFile", "chosen_report"]

FORMATS = {".json": "json", ".md": "markdown", ".xml": "junit"}
_OURS = (".yaml", ".yml", ".py")
"""Endings of files that an agent is made of: no report replaces one by a slip."""
_SIGNS = {"json": b'"runs"', "markdown": b"| verdict |", "junit": b"<testsuites"}
"""What every report of a form holds, and hardly any other file."""


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """Where a report goes, and in which form."""

    path: Path
    form: str

    def refuse_document(self, agent: LoadedAgent) -> None:
        """Refuse a place among the documents of a tool: the next index would hold the report.

        Raises:
            typer.BadParameter: Names the documents.
        """
        from holodeck.lib.paths import resolve_source

        place = self.path.resolve()
        for tool in agent.config.vectorstore_tools:
            source = resolve_source(tool, agent.base_dir).resolve()
            if place.is_relative_to(source):
                raise typer.BadParameter(
                    f"{self.path} lies in {source}, the documents of {tool.name}: write it "
                    "elsewhere"
                )

    def write(self, runs: Sequence[RunResult]) -> None:
        """Write the report.

        Raises:
            EvaluationError: It cannot be written.
        """
        from holodeck.lib.test_runner.reporters import write_report

        try:
            write_whole(self.path, write_report(self.form, runs))
        except OSError as error:
            raise EvaluationError(
                f"the report cannot be written to {self.path} ({error}): name another file"
            ) from error


def chosen_report(path: Path | None, form: str | None) -> ReportFile | None:
    """Return the file that the command line names, before anything is run for it.

    Raises:
        typer.BadParameter: Nothing can be written there, or nobody can say in which form.
    """
    from holodeck.lib.test_runner.reporters import REPORTERS

    forms = ", ".join(REPORTERS)
    if form is not None and form not in REPORTERS:
        raise typer.BadParameter(f"there is no format {form!r}: use {forms}")
    if path is None:
        if form is not None:
            raise typer.BadParameter("--format is for a report: name its file with --output")
        return None
    _refuse_place(path)
    known = form or FORMATS.get(path.suffix.lower())
    if known is None:
        raise typer.BadParameter(
            f"the ending of {path.name} says no format: end it in {', '.join(FORMATS)}, or give "
            f"--format ({forms})"
        )
    _refuse_to_replace(path, known)
    return ReportFile(path=path.absolute(), form=known)  # a function may change the folder


def _refuse_place(path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"{path.parent} is no folder: make it, or name another file")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder: name a file")
    if path.suffix.lower() in _OURS or path.name.startswith("."):
        raise typer.BadParameter(f"{path} would replace a file of an agent: name another file")
    is_written_to = path.exists() and not path.is_file()  # else the file is replaced as a whole
    if not os.access(path if is_written_to else path.resolve().parent, os.W_OK):
        raise typer.BadParameter(f"{path} cannot be written: name another file")


def _refuse_to_replace(path: Path, form: str) -> None:
    """Refuse a file that holds something, but no earlier report in this form."""
    if not path.is_file():
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read ({error}): name another file") from error
    if content.strip() and _SIGNS[form] not in content:
        raise typer.BadParameter(
            f"{path} is there and is no earlier report in {form}: name another file, or remove it"
        )
