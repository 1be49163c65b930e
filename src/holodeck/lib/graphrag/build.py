"""What every step of a build gets, and the table of the steps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from holodeck.lib.contracts import ClaimSteps, Embedder, IndexSteps, Progress

__all__ = ["STEPS", "Build", "Step", "map_bounded"]

Item = TypeVar("Item")
Result = TypeVar("Result")


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
        counts: What the summary says, filled in by the steps.
        warnings: What the user should know, filled in by the steps.
    """

    output: Path
    vectors: Path
    steps: IndexSteps
    embedder: Embedder
    claims: ClaimSteps | None = None
    concurrency: int = 1
    report: Callable[[Progress], None] = lambda progress: None
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a build.

    Attributes:
        workflow: Its name in the library's registry of workflows.
        function: ``module:function`` of ours, an ``async (Build) -> None``; ``None`` runs the
            library's own workflow of that name.
        label: What it is called while it runs; ours report by themselves.
        only_with_claims: Whether it runs only where claims are asked for.
        version: Raised when the output of our function changes; part of ``config_hash``.
    """

    workflow: str
    function: str | None = None
    label: str = ""
    only_with_claims: bool = False
    version: int = 1


STEPS: tuple[Step, ...] = (
    Step(workflow="extract_graph", function="holodeck.lib.graphrag.extract:extract_graph"),
    Step(
        workflow="extract_covariates",
        function="holodeck.lib.graphrag.claims:extract_claims",
        only_with_claims=True,
    ),
    Step(workflow="create_communities", function="holodeck.lib.graphrag.communities:cluster"),
    Step(workflow="create_final_text_units", label="text units"),
    Step(
        workflow="create_community_reports", function="holodeck.lib.graphrag.reports:write_reports"
    ),
    Step(workflow="generate_text_embeddings", function="holodeck.lib.graphrag.embed:embed_tables"),
)
"""The steps in order: a new one is a file and a row."""


async def map_bounded(
    function: Callable[[Item], Awaitable[Result]],
    items: Sequence[Item],
    build: Build,
    step: str,
) -> list[Result]:
    """Await ``function`` over the items, at most ``build.concurrency`` at once; order is kept.

    The first failure cancels what is still running and is raised.
    """
    results: dict[int, Result] = {}
    pending = iter(enumerate(items))
    build.report(Progress(step=step, done=0, total=len(items)))

    async def work() -> None:
        for index, item in pending:
            results[index] = await function(item)
            build.report(Progress(step=step, done=len(results), total=len(items)))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(build.concurrency, len(items))):
                group.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return [results[index] for index in range(len(items))]
