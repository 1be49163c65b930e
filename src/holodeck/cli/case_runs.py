"""The test cases of an agent, run on each variant, all of them under one cost cap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from holodeck.cli.agents import with_what_is_left
from holodeck.cli.case_lines import case_line
from holodeck.cli.interrupts import INTERRUPTED
from holodeck.cli.on_demand import built_for, open_indexes, tell_of_indexes
from holodeck.cli.output import say
from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session
from holodeck.cli.work import carry_out
from holodeck.errors import CostLimitError, HolodeckError
from holodeck.lib.quantities import number_of

if TYPE_CHECKING:
    from holodeck.config.loader import LoadedAgent
    from holodeck.lib.test_runner.agent_factory import Agent
    from holodeck.lib.test_runner.judge import Judge
    from holodeck.lib.test_runner.scores import CaseResult, RunResult
    from holodeck.models.test_case import Case

__all__ = ["How", "run_variants"]


@dataclass(frozen=True, kw_only=True)
class How:
    """What the command line says of the runs.

    Attributes:
        is_silent: Whether nothing is said of cases that are done.
    """

    parallel: int
    force: bool
    no_index: bool
    is_silent: bool


def run_variants(
    session: Session,
    variants: Sequence[tuple[str, LoadedAgent]],
    cases: Sequence[Case],
    how: How,
    on_cut: Callable[[Sequence[RunResult]], None],
) -> list[RunResult]:
    """Run the cases on one variant after the other; each may cost what the others left.

    Args:
        session: The command line.
        variants: Label and agent of each.
        cases: In the order of the results.
        how: What the command line says of the runs.
        on_cut: Given the runs so far where one is cut after the end of any case.

    Raises:
        KeyboardInterrupt: There was an interrupt, and no case was done.
        HolodeckError: A run failed as a whole, and no case was done.
        typer.Exit: Either came, and ``on_cut`` was called.
    """
    runs: list[RunResult] = []
    spent = 0.0
    was_cut = False

    def tell_of_cut(why: str = "interrupted") -> bool:
        nonlocal was_cut
        was_cut = bool(runs or work.done)
        if was_cut:
            never_begun = [variant(*each) for each in variants[len(runs) + 1 :]]
            on_cut([*runs, *(each.cut_short(why) for each in (work, *never_begun))])
        return was_cut

    def variant(label: str, agent: LoadedAgent) -> _Variant:
        return _Variant(session, with_what_is_left(agent, spent), label, cases, how)

    for label, agent in variants:
        work = variant(label, agent)
        try:
            runs.append(carry_out(work.run(), last_words=tell_of_cut))
        except KeyboardInterrupt:
            if was_cut:
                raise typer.Exit(INTERRUPTED) from None
            raise
        except HolodeckError as error:
            if tell_of_cut(str(error)):
                raise typer.Exit(error.exit_code) from error
            raise
        spent += work.spent
    return runs


class _Variant:
    """One variant's run: its indexes, then the cases.

    Attributes:
        spent: USD, for the indexes, the answers and the judge.
        done: The cases that ended, by name.
    """

    def __init__(
        self, session: Session, loaded: LoadedAgent, label: str, cases: Sequence[Case], how: How
    ) -> None:
        self.spent = 0.0
        self.done: dict[str, CaseResult] = {}
        self._session = session
        self._loaded = loaded
        self._label = label
        self._cases = cases
        self._how = how

    async def run(self) -> RunResult:
        from holodeck.lib.spending import total

        async with AsyncExitStack() as stack:
            try:
                agent, judge = await self._opened(stack)
            except CostLimitError as error:
                self.spent = self._loaded.config.execution.max_cost or 0.0  # nothing is left
                return self._stopped(str(error))
            run = await self._run_cases(agent, judge)
        self.spent += total([*run.spent, *run.judge_spent]).cost
        return run

    async def _opened(self, stack: AsyncExitStack) -> tuple[Agent, Judge | None]:
        """Return the agent, its indexes up to date, to be closed with the stack; and its judge."""
        from holodeck.lib.test_runner.agent_factory import create_agent
        from holodeck.lib.test_runner.executor import needs_judge

        how = self._how
        with show_progress(self._session) as on_progress:
            agent = create_agent(self._loaded, on_progress=on_progress, wait_for_builder=False)
            stack.push_async_callback(agent.close)
            is_judged = needs_judge(self._cases, self._loaded.config.evaluations)
            judge = agent.judge() if is_judged else None
            if self._label and not how.is_silent:
                say(f"{self._label}:")
            await open_indexes(
                self._session,
                self._loaded,
                agent.search_tools,
                force=how.force,
                no_index=how.no_index,
            )
        tell_of_indexes(self._session, agent.search_tools, no_index=how.no_index)
        self.spent += built_for(agent.search_tools)
        return agent, judge

    async def _run_cases(self, agent: Agent, judge: Judge | None) -> RunResult:
        from holodeck.lib.test_runner.executor import run_cases

        def tell(case: CaseResult) -> None:
            if case.turns:
                self.done[case.name] = case
            if not self._how.is_silent:
                say(case_line(case))

        left = with_what_is_left(self._loaded, self.spent)
        return await run_cases(
            agent,
            self._cases,
            self._loaded.config.evaluations,
            judge=judge,
            parallel=self._how.parallel,
            on_case=tell,
            variant=self._label,
            max_cost=left.config.execution.max_cost,
        )

    def cut_short(self, why: str) -> RunResult:
        """Return the run as far as it came when it was interrupted, or failed as a whole."""
        left = len(self._cases) - len(self.done)
        return self._stopped(
            f"{why}; {left} of {number_of(len(self._cases), 'test cases')} did not end, and "
            "nothing is said of them"
        )

    def _stopped(self, why: str) -> RunResult:
        """Return the run that ended before its cases did."""
        from holodeck.lib.test_runner.scores import CaseResult, RunResult

        return RunResult(
            agent=self._loaded.config.name,
            cases=tuple(
                self.done.get(case.name, CaseResult(name=case.name)) for case in self._cases
            ),
            variant=self._label,
            stopped=why,
        )
