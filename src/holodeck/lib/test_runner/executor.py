"""Test cases, put to an agent and judged: several at once, the results in the file's order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from holodeck.errors import ConfigError, CostLimitError, HolodeckError
from holodeck.lib.extras import require_extra
from holodeck.lib.meter import accounted
from holodeck.lib.test_runner.metrics import METRIC_EXTRAS, NEEDS_GROUND_TRUTH, measure
from holodeck.lib.test_runner.metrics.numbers import why_no_number
from holodeck.lib.test_runner.scores import CaseResult, RunResult, Sample, Score, TurnResult
from holodeck.models.evaluation import JUDGED, Evaluations, Metric
from holodeck.models.test_case import Case, CaseTurn

if TYPE_CHECKING:
    from holodeck.lib.test_runner.agent_factory import Agent
    from holodeck.lib.test_runner.conversation import Conversation
    from holodeck.lib.test_runner.judge import Judge

__all__ = ["CaseListener", "find_case_problems", "metrics_of", "needs_judge", "run_cases"]

logger = logging.getLogger(__name__)

CaseListener = Callable[[CaseResult], None]


def metrics_of(turn: CaseTurn, evaluations: Evaluations) -> tuple[Metric, ...]:
    """Return how an answer is judged: its own list, else the agent's, and what it expects.

    Expected tools and sources are always looked at: whoever writes them down expects them.
    """
    chosen = list(evaluations.metrics if turn.evaluations is None else turn.evaluations)
    if turn.evaluations is None:
        chosen = [metric for metric in chosen if _has_what_it_needs(metric, turn)]
    named = {metric.metric for metric in chosen}
    if turn.expected_tools is not None and "expected_tools" not in named:
        chosen.append(Metric(metric="expected_tools"))
    if turn.expected_sources is not None and "source_recall" not in named:
        chosen.append(Metric(metric="source_recall", threshold=1.0))
    return tuple(chosen)


def _has_what_it_needs(metric: Metric, turn: CaseTurn) -> bool:
    """Tell whether the agent's metric can be measured of this answer: the others are not asked."""
    needed = _what_it_needs(metric)
    return needed is None or getattr(turn, needed) is not None


def _what_it_needs(metric: Metric) -> str | None:
    """Return the setting of a case that the metric compares with, if it does."""
    if metric.metric in NEEDS_GROUND_TRUTH or (metric.metric == "contains" and not metric.values):
        return "ground_truth"
    if metric.metric.startswith("source_"):
        return "expected_sources"
    return "expected_tools" if metric.metric == "expected_tools" else None


def find_case_problems(case: Case, evaluations: Evaluations, tools: Sequence[str]) -> list[str]:
    """Return what keeps a case from being judged, without asking anybody."""
    problems: list[str] = []
    for turn in case.all_turns:
        for tool in turn.expected_tools or ():
            if tool.name not in tools:
                there_are = ", ".join(tools) or "none"
                problems.append(
                    f"expected_tools names {tool.name!r}, and the agent's tools are {there_are}"
                )
        for metric in metrics_of(turn, evaluations):
            problems += _metric_problems(metric, turn)
    return list(dict.fromkeys(problems))


def _metric_problems(metric: Metric, turn: CaseTurn) -> Iterator[str]:
    if not _has_what_it_needs(metric, turn):
        yield (
            f"metric: {metric.metric} has nothing to compare with: write "
            f"{_what_it_needs(metric)}, or remove the metric"
        )
    if metric.metric == "numeric" and (why := why_no_number(turn.ground_truth or "0")):
        yield (
            f"metric: numeric compares with one number, and the ground_truth {why}: write "
            "one number, or use another metric"
        )
    if metric.metric in METRIC_EXTRAS:
        try:
            require_extra(METRIC_EXTRAS[metric.metric], f"metric: {metric.metric}")
        except ConfigError as error:
            yield str(error)


def needs_judge(cases: Sequence[Case], evaluations: Evaluations) -> bool:
    """Tell whether any answer is judged by a model."""
    return any(
        metric.metric in JUDGED
        for case in cases
        for turn in case.all_turns
        for metric in metrics_of(turn, evaluations)
    )


async def run_cases(
    agent: Agent,
    cases: Sequence[Case],
    evaluations: Evaluations,
    *,
    judge: Judge | None = None,
    parallel: int = 4,
    on_case: CaseListener | None = None,
    variant: str = "",
    max_cost: float | None = None,
) -> RunResult:
    """Run every case in a conversation of its own.

    Args:
        agent: Its indexes open.
        cases: In the order of the result.
        evaluations: The agent's.
        judge: For the metrics that need one.
        parallel: Cases at once.
        on_case: Told each case when it is done.
        variant: What is compared.
        max_cost: USD that the agent, its tools and the judge may cost together.

    Returns:
        A result for every case; where the cost cap was reached, the rest are ``not run``.
    """
    slots = asyncio.Semaphore(parallel)
    stop = _Stop()

    async def one(case: Case) -> CaseResult:
        async with slots:
            result = CaseResult(name=case.name)
            if stop.reason is None:
                result = await _run_case(agent.conversation(), case, evaluations, judge)
                stop.reason = stop.reason or result.cut
        if on_case is not None:
            on_case(result)
        return result

    with agent.capped(max_cost):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(case)) for case in cases]
    return RunResult(
        agent=agent.loaded.config.name,
        cases=tuple(task.result() for task in tasks),
        variant=variant,
        stopped=stop.reason,
    )


class _Stop:
    reason: str | None = None


async def _run_case(
    conversation: Conversation, case: Case, evaluations: Evaluations, judge: Judge | None
) -> CaseResult:
    results: list[TurnResult] = []
    for expected in case.all_turns:
        result = await _run_turn(conversation, expected, evaluations, judge)
        results.append(result)
        if result.turn is None or result.cut is not None:
            break  # what comes after rests on an answer that is not there
    return CaseResult(name=case.name, turns=tuple(results))


async def _run_turn(
    conversation: Conversation, expected: CaseTurn, evaluations: Evaluations, judge: Judge | None
) -> TurnResult:
    result = TurnResult(question=expected.input)
    began = time.monotonic()
    try:
        turn = await conversation.ask(expected.input)
    except Exception as error:  # noqa: BLE001  # the other cases are worth their verdicts
        took = time.monotonic() - began
        result = replace(result, failed_after=took, spent=conversation.last_spent)
        if isinstance(error, CostLimitError):
            return replace(result, cut=str(error))
        return replace(result, error=_reason(error))
    if turn.stopped is not None:
        return replace(result, error=turn.stopped, failed_after=turn.seconds, spent=turn.spent)
    return await _judged(replace(result, turn=turn, spent=turn.spent), expected, evaluations, judge)


async def _judged(
    result: TurnResult, expected: CaseTurn, evaluations: Evaluations, judge: Judge | None
) -> TurnResult:
    """Return the result with a score for each metric, as far as the cost cap lets it."""
    assert result.turn is not None
    sample = Sample(turn=result.turn, expected=expected)
    with accounted() as judging:
        try:
            for metric in metrics_of(expected, evaluations):
                score = await _score(metric, sample, judge)
                result = replace(result, scores=(*result.scores, _numbered(score, result.scores)))
        except CostLimitError as error:
            result = replace(result, cut=str(error))
    return replace(result, judge_spent=judging.rows())


def _numbered(score: Score, before: Sequence[Score]) -> Score:
    """Return the second score of a name as ``name 2``: a mean would hide which one failed."""
    taken = {each.label for each in before}
    names = (score.label, *(f"{score.label} {n}" for n in range(2, len(before) + 2)))
    return replace(score, label=next(name for name in names if name not in taken))


async def _score(metric: Metric, sample: Sample, judge: Judge | None) -> Score:
    try:
        return await measure(metric, sample, judge)
    except CostLimitError:
        raise
    except Exception as error:  # noqa: BLE001  # as above
        reason = _reason(error)
        return Score(label=metric.label, value=None, threshold=metric.limit, reason=reason)


def _reason(error: Exception) -> str:
    """Return why there is no result; an error that is none of ours goes to the log as well."""
    if isinstance(error, HolodeckError):
        return str(error)
    logger.warning("a test case failed unexpectedly", exc_info=error)
    return f"unexpected {type(error).__name__}: {error}"
