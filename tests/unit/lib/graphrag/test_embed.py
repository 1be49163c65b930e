"""Texts of several tables → vectors, while other steps run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from holodeck.errors import IndexingError, ProviderError
from holodeck.lib.graphrag.embed import BATCH_BYTES, BATCH_TEXTS, Embedding
from holodeck.lib.providers.embedding_cache import CachedEmbedder
from holodeck.lib.providers.reply_store import ReplyStore
from holodeck.testing.words import WordEmbedder, word_vector

pytestmark = pytest.mark.unit


class Counting(WordEmbedder):
    """Remembers the sizes of its calls."""

    def __init__(self) -> None:
        super().__init__(width=8)
        self.sizes: list[int] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.sizes.append(len(texts))
        return await super().embed(texts)


def rows(count: int, word: str = "w") -> list[tuple[str, str]]:
    return [(f"{word}{n}", f"{word}{n}") for n in range(count)]


async def test_batches_are_full_whatever_table_their_texts_are_of() -> None:
    """Only the last call is smaller than what one request takes."""
    embedder = Counting()
    embedding = Embedding(embedder)
    embedding.add("units", rows(BATCH_TEXTS + 10))
    for row in rows(BATCH_TEXTS, "e"):
        embedding.add("entities", [row])
    await embedding.finish()

    assert embedder.sizes == [BATCH_TEXTS, BATCH_TEXTS, 10]
    (found,) = embedding.take("entities", ["e7"])
    assert found == pytest.approx(word_vector("e7", 8))


async def test_a_batch_is_no_larger_than_one_request_in_bytes() -> None:
    """Long texts make smaller batches."""
    embedder = Counting()
    embedding = Embedding(embedder)
    embedding.add("units", [(str(n), f"{n} " + "x" * (BATCH_BYTES // 2 - 9)) for n in range(5)])
    await embedding.finish()

    assert embedder.sizes == [2, 2, 1]


async def test_kept_vectors_do_not_make_calls_smaller(tmp_path: Path) -> None:
    """What is kept is left out before the batches are made."""
    with ReplyStore(tmp_path / "r.sqlite") as store:
        first = Embedding(CachedEmbedder(WordEmbedder(width=8), store))
        first.add("units", [row for n, row in enumerate(rows(1000)) if n % 3])
        await first.finish()
        embedder = Counting()
        second = Embedding(CachedEmbedder(embedder, store))
        for row in rows(1000):
            second.add("units", [row])
        await second.finish()

        assert sorted(embedder.sizes) == [334 - BATCH_TEXTS, BATCH_TEXTS]
        assert np.array(second.take("units", ["w1", "w3"])) == pytest.approx(
            np.array([word_vector("w1", 8), word_vector("w3", 8)])
        )


async def test_a_batch_that_fails_ends_the_build_with_the_next_text() -> None:
    """No more is paid for than what was on its way."""

    class Failing(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise ProviderError("no such model", retryable=False)

    embedding = Embedding(Failing())
    embedding.add("units", rows(BATCH_TEXTS))
    with pytest.raises(IndexingError, match="could not be embedded: no such model"):
        await embedding.finish()
    with pytest.raises(IndexingError, match="What was paid for is kept"):
        embedding.add("entities", rows(1))


async def test_vectors_of_two_widths_are_refused() -> None:
    """An index holds one width; the message names both."""

    class Varying(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.width += 1
            return await super().embed(texts)

    embedding = Embedding(Varying(width=7))
    embedding.add("units", rows(BATCH_TEXTS + 1))
    with pytest.raises(IndexingError, match=r"\[8, 9\] numbers"):
        await embedding.finish()
