"""Many items in bounded portions."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck.lib.providers.batches import (
    BATCH_BYTES,
    BATCH_TEXTS,
    map_or_cancel,
    split_into_batches,
)


@given(st.lists(st.integers(0, BATCH_BYTES + 10), max_size=12))
def test_joined_batches_are_the_texts(sizes: list[int]) -> None:
    """Nothing is lost or moved; no batch is empty; only a lone text may be too large."""
    texts = ["x" * size for size in sizes]

    batches = [list(batch) for batch in split_into_batches(texts)]

    assert [text for batch in batches for text in batch] == texts
    assert all(batches)
    assert all(len(batch) == 1 or sum(map(len, batch)) <= BATCH_BYTES for batch in batches)


def test_a_batch_has_so_many_texts() -> None:
    """The number is bounded too, and size counts in bytes."""
    many = list(split_into_batches(["x"] * (2 * BATCH_TEXTS + 1)))
    wide = list(split_into_batches(["日" * 50_000] * 2))  # 150,000 bytes each

    assert [len(batch) for batch in many] == [BATCH_TEXTS, BATCH_TEXTS, 1]
    assert [len(batch) for batch in wide] == [1, 1]


async def test_results_keep_the_order_of_items() -> None:
    """Whoever is done first, the first item's result is first."""

    async def work(number: int) -> int:
        for _ in range(5 - number):
            await asyncio.sleep(0)
        return number * 10

    assert await map_or_cancel(work, [1, 2, 3]) == [10, 20, 30]


async def test_the_first_error_cancels_the_others() -> None:
    """Nobody goes on working for a result that nobody will see."""
    cancelled: list[int] = []

    async def work(number: int) -> None:
        if number == 2:
            raise LookupError("lost")
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(number)

    with pytest.raises(LookupError, match="lost"):
        await map_or_cancel(work, [1, 2, 3])

    assert cancelled == [1, 3]
