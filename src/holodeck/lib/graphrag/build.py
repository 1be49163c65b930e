"""What every step of a build gets, and the table of the steps."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from holodeck.lib.contracts import (
    BuildAccount,
    ClaimSteps,
    Embedder,
    Failure,
    IndexSteps,
    Progress,
)
from holodeck.lib.graphrag.components import Scheme
from holodeck.lib.graphrag.embed import Embedding
from holodeck.lib.indexes.step_memo import StepMemo

__all__ = ["STEPS", "Build", "Step", "map_after", "map_bounded"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_REPORT_SECONDS = 0.1
"""Between two reports of progress that are less than a hundredth of the work apart."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """One build of one generation.

    Attributes:
        output: Folder of the generation's tables.
        vectors: Folder of its LanceDB.
        steps: Who thinks.
        claims: Who finds claims; ``None``: nobody was asked to.
        embedder: Who maps texts to vectors.
        concurrency: Thinking steps in flight at once.
        report: Told of progress.
        max_failed_share: Share of the chunks that may fail.
        summarize: When several descriptions of one thing become one.
        summary_threshold: Tokens of joined descriptions that are kept as they are.
        report_threshold: Tokens of a community's records that are quoted as its report.
        communities: How entities are grouped.
        known_failures: What failed in the last build and is not asked for again.
        memo: What the steps made of what, in this build and the one before.
        last_seconds: How long what was sent before a step failed may take to be answered, and kept.
        counts: What the summary says, filled in by the steps.
        warnings: What the user should know, filled in by the steps.
        chunks: How many chunks ended how, filled in by the steps.
        repairs: What was mended in replies, filled in by the steps.
        dropped: Records that could not be used, by reason, filled in by the steps.
        failures: What failed, filled in by the steps.
    """

    output: Path
    vectors: Path
    steps: IndexSteps
    embedder: Embedder
    claims: ClaimSteps | None = None
    concurrency: int = 1
    report: Callable[[Progress], None] = lambda progress: None
    max_failed_share: float = 0.05
    summarize: Literal["auto", "always"] = "auto"
    summary_threshold: int = 200
    report_threshold: int = 0
    communities: Scheme = "stable"
    known_failures: Mapping[tuple[str, str], Failure] = field(default_factory=dict)
    memo: StepMemo = field(default_factory=StepMemo)
    last_seconds: float = 10.0
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    chunks: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @cached_property
    def embedding(self) -> Embedding:
        """The texts that the steps hand over to be embedded, while they go on."""
        return Embedding(self.embedder)

    @property
    def account(self) -> BuildAccount:
        """What became of every piece."""
        return BuildAccount(
            chunks=dict(self.chunks),
            repairs=dict(sorted(self.repairs.items())),
            dropped=dict(sorted(self.dropped.items())),
            claims=self.counts.get("claims", 0),
            merged=self.counts.get("merged_entities", 0),
            isolated=self.counts.get("isolated_entities", 0),
            reports_missing=self.counts.get("reports_missing", 0),
            failures=tuple(self.failures),
        )


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a build.

    Attributes:
        workflow: Its name in the library's registry of workflows.
        function: ``module:function`` of ours, an ``async (Build) -> None``.
        only_with_claims: Whether it runs only where claims are asked for.
        version: Raised when the output of our function changes; part of ``config_hash``.
    """

    workflow: str
    function: str
    only_with_claims: bool = False
    version: int = 1


STEPS: tuple[Step, ...] = (
    Step(
        workflow="extract_graph",
        function="holodeck.lib.graphrag.extract:extract_graph",
        version=4,
    ),
    Step(
        workflow="extract_covariates",
        function="holodeck.lib.graphrag.claims:extract_claims",
        only_with_claims=True,
        version=3,
    ),
    Step(workflow="create_communities", function="holodeck.lib.graphrag.communities:cluster"),
    Step(
        workflow="create_final_text_units",
        function="holodeck.lib.graphrag.link_text_units:link_text_units",
    ),
    Step(
        workflow="create_community_reports",
        function="holodeck.lib.graphrag.reports:write_reports",
        version=5,
    ),
    Step(
        workflow="generate_text_embeddings",
        function="holodeck.lib.graphrag.embed:embed_tables",
        version=2,
    ),
)
"""The steps in order: a new one is a file and a row."""


async def map_after(
    function: Callable[[Item], Awaitable[Result]],
    items: Sequence[Item],
    waits_for: Sequence[Collection[int]],
    build: Build,
    step: str,
) -> list[Result]:
    """Await ``function`` over the items, at most ``build.concurrency`` at once; order is kept.

    An item begins when those that it waits for, given by index, have ended; of several that can
    begin the first does. The first failure is raised: after it nothing begins, and what is still
    running, which may be paid for, has ``build.last_seconds`` to end.
    """
    results: dict[int, Result] = {}
    left = [len(others) for others in waits_for]
    followers: list[list[int]] = [[] for _ in items]
    for index, others in enumerate(waits_for):
        for other in others:
            followers[other].append(index)
    ready: asyncio.PriorityQueue[int] = asyncio.PriorityQueue()
    for index, count in enumerate(left):
        if not count:
            ready.put_nowait(index)
    progress = _StepProgress(build.report, step, len(items))
    workers = min(build.concurrency, len(items))
    has_failed = False

    def end_all() -> None:
        for _ in range(workers):
            ready.put_nowait(len(items))

    async def work() -> None:
        nonlocal has_failed
        while (index := await ready.get()) < len(items) and not has_failed:
            try:
                results[index] = await function(items[index])
            except BaseException:
                has_failed = True
                end_all()
                raise
            progress.note(len(results))
            for follower in followers[index]:
                left[follower] -= 1
                if not left[follower]:
                    ready.put_nowait(follower)
            if len(results) == len(items):
                end_all()

    await _all_of(work, workers, build.last_seconds)
    return [results[index] for index in range(len(items))]


class _StepProgress:
    """Reports how far a step is: each hundredth of it, and more often where that takes long.

    What is taken from what was kept goes so fast that each report would cost more than the work.
    """

    def __init__(self, report: Callable[[Progress], None], step: str, total: int) -> None:
        self._report = report
        self._step = step
        self._total = total
        self._shown = 0
        self._next = 0.0
        self.note(0)

    def note(self, done: int) -> None:
        """Report that so many items are done, if it is worth it."""
        part = 100 * done // max(self._total, 100)
        now = time.monotonic()
        if part != self._shown or now >= self._next or done == self._total:
            self._shown, self._next = part, now + _REPORT_SECONDS
            self._report(Progress(step=self._step, done=done, total=self._total))


async def _all_of(
    work: Callable[[], Coroutine[Any, Any, None]], workers: int, last_seconds: float
) -> None:
    """Run the workers to their end; the first failure is raised, and no task is left behind."""
    if not workers:
        return
    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    try:
        done, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        failed = [task for task in done if task.cancelled() or task.exception() is not None]
        if failed and running:
            await asyncio.wait(running, timeout=last_seconds)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in failed[:1]:
        await task


async def map_bounded(
    function: Callable[[Item], Awaitable[Result]],
    items: Sequence[Item],
    build: Build,
    step: str,
) -> list[Result]:
    """Await ``function`` over the items, at most ``build.concurrency`` at once; order is kept.

    Failures are those of ``map_after``.
    """
    return await map_after(function, items, [()] * len(items), build, step)
