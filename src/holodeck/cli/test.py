"""``holodeck test``: put the agent to its test cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from holodeck.cli.agents import check_whole_agent, load
from holodeck.cli.case_lines import tables
from holodeck.cli.case_runs import How, run_variants
from holodeck.cli.options import (
    AgentArgument,
    AgentOption,
    ForceFirstOption,
    JsonOption,
    MaxCostOption,
    NoIndexOption,
    chosen_agent,
    refuse_contradiction,
)
from holodeck.cli.output import guarded_results, say_error, show, show_json
from holodeck.cli.report_file import ReportFile, chosen_report
from holodeck.cli.session import Session
from holodeck.errors import CostLimitError, EvaluationError

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.test_runner.scores import RunResult
    from holodeck.models.test_case import Case

__all__ = ["test"]

FAILED, EXECUTION, EVALUATION = 1, 3, 4

Writer: TypeAlias = "Callable[[Sequence[RunResult]], object]"


def test(
    context: typer.Context,
    agent_argument: AgentArgument = None,
    agent_option: AgentOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write a report there")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="json, markdown or junit [default: by the file's name]",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Run the first N cases only")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            metavar="VALUE",
            help="Run all cases with this engine, or setting=value of the search tools; repeat it",
        ),
    ] = None,
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, metavar="N", help="Cases at once")
    ] = 4,
    max_cost: MaxCostOption = None,
    force: ForceFirstOption = False,
    no_index: NoIndexOption = False,
    no_history: Annotated[
        bool, typer.Option("--no-history", help="Do not keep the run in .holodeck/runs")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the agent's test cases, after indexing what changed."""
    session: Session = context.obj
    refuse_contradiction(force=force, no_index=no_index)
    report = chosen_report(output, form)
    loaded = load(session, chosen_agent(agent_option, agent_argument), max_cost=max_cost)
    variants, cases = _checked(loaded, compare or [], limit)
    writers = _writers(loaded, report, is_kept=not no_history)
    how = How(
        parallel=parallel, force=force, no_index=no_index, is_silent=session.is_quiet or as_json
    )

    def report_cut(runs: Sequence[RunResult]) -> None:
        _show(runs, as_json=as_json)
        _write_down(runs, writers)

    with guarded_results():
        runs = run_variants(session, variants, cases, how, report_cut)
    _show(runs, as_json=as_json)  # seen also when it cannot be written down
    code = max(_write_down(runs, writers), *map(_exit_code, runs))
    if code:
        raise typer.Exit(code)


def _checked(
    loaded: LoadedAgent, compare: list[str], limit: int | None
) -> tuple[list[tuple[str, LoadedAgent]], tuple[Case, ...]]:
    """Return what is run, after everything that can be wrong was looked for."""
    from holodeck.config.cases import load_cases
    from holodeck.lib.test_runner.variants import make_variants

    cases = load_cases(loaded)[:limit]
    made = make_variants(loaded, compare) if compare else []
    variants = [(each.label, each.agent) for each in made] or [("", loaded)]
    for _, agent in variants:
        check_whole_agent(agent, to_write=False)
    return variants, cases


def _writers(loaded: LoadedAgent, report: ReportFile | None, *, is_kept: bool) -> list[Writer]:
    """Return what writes the runs down, after its places were looked at."""
    from holodeck.lib.test_runner.history import keep_run, make_runs_folder

    writers: list[Writer] = []
    if report is not None:
        report.refuse_document(loaded)
        writers.append(report.write)
    if is_kept:
        make_runs_folder(loaded.base_dir)
        writers.append(partial(keep_run, base_dir=loaded.base_dir))
    return writers


def _write_down(runs: Sequence[RunResult], writers: Sequence[Writer]) -> int:
    """Write whatever can be written, tell what cannot, and return the exit code for that."""
    code = 0
    for write in writers:
        try:
            write(runs)
        except EvaluationError as error:
            say_error(str(error))
            code = EXECUTION
    return code


def _show(runs: Sequence[RunResult], *, as_json: bool) -> None:
    from holodeck.lib.test_runner.scores import runs_as_json

    if as_json:
        show_json(runs_as_json(runs))
        return
    for text in tables(runs):
        show(text)
    for run in runs:
        if run.stopped is not None:
            say_error(run.stopped)


def _exit_code(run: RunResult) -> int:
    """Return the gravest: a stop at the cap, no answer to any case, no judgement, a failure."""
    if run.stopped is not None:
        return CostLimitError.exit_code
    if run.cases and run.count("error") == len(run.cases):
        return EXECUTION
    if run.count("unjudged"):
        return EVALUATION
    return FAILED if run.count("failed") or run.count("error") else 0
