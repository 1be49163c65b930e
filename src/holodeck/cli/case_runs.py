"""The test cases of an agent, run on each variant, all of them under one cost cap."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holodeck.cli.agents import with_what_is_left
from holodeck.cli.case_lines import case_line
from holodeck.cli.on_demand import built_for, open_indexes, tell_of_indexes
from holodeck.cli.output import say
from holodeck.cli.progress import show_progress
from holodeck.cli.session import Session
from holodeck.cli.work import carry_out
from holodeck.errors import CostLimitError

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
) -> list[RunResult]:
    """Run the cases on one variant after the other; each may cost what the others left."""
    runs: list[RunResult] = []
    spent = 0.0
    for label, agent in variants:
        work = _Variant(session, with_what_is_left(agent, spent), label, cases, how)
        runs.append(carry_out(work.run()))
        spent += work.spent
    return runs


class _Variant:
    """One variant's run: its indexes, then the cases.

    Attributes:
        spent: USD, for the indexes, the answers and the judge.
    """

    def __init__(
        self, session: Session, loaded: LoadedAgent, label: str, cases: Sequence[Case], how: How
    ) -> None:
        self.spent = 0.0
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
                return self._not_run(str(error))
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

    def _not_run(self, why: str) -> RunResult:
        """Return the run whose index took what there was: nothing is left for anybody."""
        from holodeck.lib.test_runner.scores import CaseResult, RunResult

        self.spent = self._loaded.config.execution.max_cost or 0.0
        return RunResult(
            agent=self._loaded.config.name,
            cases=tuple(CaseResult(name=case.name) for case in self._cases),
            variant=self._label,
            stopped=why,
        )
