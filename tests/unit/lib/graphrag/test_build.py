"""Many pieces of work at once, some after others."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from holodeck.lib.contracts import CommunityContext, Extraction, Progress, Report
from holodeck.lib.graphrag.build import Build, map_after
from holodeck.testing.words import WordEmbedder

pytestmark = pytest.mark.unit


class Nobody:
    """Is never asked to think."""

    version = "1"

    async def extract(self, text: str) -> Extraction:
        raise NotImplementedError

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        raise NotImplementedError

    async def report(self, community: CommunityContext) -> Report:
        raise NotImplementedError


def build(concurrency: int, report: Callable[[Progress], None] = lambda progress: None) -> Build:
    return Build(
        report=report,
        output=Path(),
        vectors=Path(),
        steps=Nobody(),
        embedder=WordEmbedder(),
        concurrency=concurrency,
    )


async def test_what_waits_begins_when_its_own_are_done_and_not_all() -> None:
    """A slow item keeps only those that wait for it, and the order of the results is kept."""
    release = asyncio.Event()
    ended: list[str] = []

    async def work(item: str) -> str:
        if item == "slow":
            await release.wait()
        ended.append(item)
        if item == "after quick":
            release.set()
        return item.upper()

    items = ["slow", "quick", "after quick", "after slow"]
    found = await map_after(work, items, [[], [], [1], [0]], build(2), "step")

    assert ended == ["quick", "after quick", "slow", "after slow"]
    assert found == [item.upper() for item in items]


@pytest.mark.parametrize("concurrency", [1, 3, 50])
async def test_no_more_run_at_once_than_may(concurrency: int) -> None:
    """As many as may while there are so many, and never more."""
    running = greatest = 0

    async def work(item: int) -> int:
        nonlocal running, greatest
        running += 1
        greatest = max(greatest, running)
        await asyncio.sleep(0)
        running -= 1
        return item

    items = list(range(20))
    found = await map_after(work, items, [[]] * 20, build(concurrency), "step")

    assert found == items
    assert greatest == min(concurrency, 20)


async def test_a_failure_stops_the_others_and_is_raised() -> None:
    """What waits for it never begins."""
    begun: list[int] = []

    async def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise ValueError("item 1")
        await asyncio.sleep(60)

    hasty = dataclasses.replace(build(2), last_seconds=0.01)
    with pytest.raises(ValueError, match="item 1"):
        await map_after(work, [0, 1, 2], [[], [], [1]], hasty, "step")

    assert begun == [0, 1]


async def test_what_runs_when_another_fails_may_end() -> None:
    """It was sent and may be paid for; what has not begun never does."""
    ended: list[int] = []
    fails = asyncio.Event()

    async def work(item: int) -> None:
        if item == 1:
            fails.set()
            raise ValueError("item 1")
        await fails.wait()
        await asyncio.sleep(0.01)
        ended.append(item)

    with pytest.raises(ValueError, match="item 1"):
        await map_after(work, range(9), [()] * 9, build(2), "step")

    assert ended == [0]


async def test_whoever_cancels_a_step_waits_for_nothing() -> None:
    """Ctrl-C ends it at once, and leaves no task behind."""
    begun = asyncio.Event()

    async def work(item: int) -> None:
        begun.set()
        await asyncio.sleep(60)

    before = asyncio.all_tasks()
    step = asyncio.create_task(map_after(work, range(9), [()] * 9, build(3), "step"))
    await begun.wait()
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step

    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("total", [0, 7, 20_000])
async def test_progress_is_told_by_hundredths_and_not_by_items(total: int) -> None:
    """Few items one by one, many that go fast a hundred times; always the first and the end."""
    told: list[int] = []

    async def work(item: int) -> int:
        return item

    heard = build(3, lambda progress: told.append(progress.done))
    await map_after(work, range(total), [()] * total, heard, "step")

    assert told == sorted(set(told))
    assert (told[0], told[-1]) == (0, total)
    assert {total * part // 100 for part in range(101)} <= set(told)
    assert len(told) < 1_000
