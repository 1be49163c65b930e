"""No text is embedded twice, also when a build is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from holodeck.errors import IndexingError, ProviderError
from holodeck.lib.contracts import Progress
from holodeck.lib.vectorstore.embed import BATCH, embed_chunks
from holodeck.lib.vectorstore.unfinished import UnfinishedVectors
from holodeck.testing.words import WordEmbedder, word_vector

from .conftest import units

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 8


class FailingEmbedder(WordEmbedder):
    """Fail at a call, by number."""

    def __init__(self, fails_at: int) -> None:
        super().__init__(WIDTH)
        self._left = fails_at

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._left -= 1
        if self._left == 0:
            raise ProviderError("the server is down")
        return await super().embed(texts)


async def embed(
    texts: Sequence[str],
    folder: Path,
    embedder: WordEmbedder,
    known: dict[str, NDArray[np.float32]] | None = None,
) -> tuple[NDArray[np.float32], list[Progress]]:
    said: list[Progress] = []
    unfinished = UnfinishedVectors(folder)
    ids, rows = unfinished.read()
    vectors = await embed_chunks(
        units(texts),
        embedder,
        known={**(known or {}), **dict(zip(ids, rows, strict=True))},
        unfinished=unfinished,
        on_progress=said.append,
    )
    return vectors, said


async def test_rows_follow_the_chunks_and_known_ones_are_not_embedded(tmp_path: Path) -> None:
    """What is known is taken as it is; the rest is embedded; order is that of the chunks."""
    chunks = units(["ann", "bob", "carl"])
    known = {chunks[1].id: np.full(WIDTH, 7, dtype=np.float32)}
    embedder = WordEmbedder(WIDTH)

    vectors, said = await embed(["ann", "bob", "carl"], tmp_path / "u", embedder, known)

    first, last = chunks[0].text, chunks[2].text
    assert vectors.tolist() == [
        np.array(word_vector(first, WIDTH), dtype=np.float32).tolist(),
        [7.0] * WIDTH,
        np.array(word_vector(last, WIDTH), dtype=np.float32).tolist(),
    ]
    assert embedder.embedded == [first, last]
    assert [(progress.done, progress.total) for progress in said] == [(1, 3), (3, 3)]


async def test_a_stopped_build_goes_on(tmp_path: Path) -> None:
    """Batches that were embedded before the failure are not embedded again."""
    texts = [f"word{number}" for number in range(BATCH + 5)]
    failing, working = FailingEmbedder(fails_at=2), WordEmbedder(WIDTH)

    with pytest.raises(IndexingError, match=r"the server is down\. What was embedded is kept"):
        await embed(texts, tmp_path / "u", failing)
    vectors, _ = await embed(texts, tmp_path / "u", working)

    assert len(failing.embedded) == BATCH
    assert sorted(failing.embedded + working.embedded) == sorted(texts)
    fresh, _ = await embed(texts, tmp_path / "other", WordEmbedder(WIDTH))
    assert np.array_equal(vectors, fresh)


async def test_another_model_under_the_same_name_is_an_error(tmp_path: Path) -> None:
    """Vectors of two widths never stand in one index; the message says what to do."""
    chunks = units(["ann", "bob"])
    known = {chunks[0].id: np.ones(3, dtype=np.float32)}

    with pytest.raises(IndexingError, match=r"vectors of 8 numbers.*of 3.*--force"):
        await embed(["ann", "bob"], tmp_path / "u", WordEmbedder(WIDTH), known)

    assert UnfinishedVectors(tmp_path / "u").read() == ([], [])


def test_a_damaged_batch_is_dropped_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What a crash cut off costs one batch, never the build."""
    unfinished = UnfinishedVectors(tmp_path / "u")
    unfinished.add(["a"], np.ones((1, 2), dtype=np.float32))
    unfinished.add(["b"], np.zeros((1, 2), dtype=np.float32))
    first = sorted((tmp_path / "u").iterdir())[0]
    first.write_bytes(first.read_bytes()[:20])

    ids, rows = unfinished.read()

    assert (ids, [row.tolist() for row in rows]) == (["b"], [[0.0, 0.0]])
    assert "is damaged" in caplog.text
    assert not first.exists()
    unfinished.clear()
    assert unfinished.read() == ([], [])
