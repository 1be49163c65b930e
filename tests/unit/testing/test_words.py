"""Vectors by words."""

from __future__ import annotations

import numpy as np
import pytest

from holodeck.testing import WordEmbedder
from holodeck.testing.words import word_position


async def test_the_product_of_two_texts_is_their_shared_words() -> None:
    """Two texts of 2 and 8 distinct words that share 1 have the product 1 / sqrt(2 * 8)."""
    embedder = WordEmbedder(width=4096)

    first, second = await embedder.embed(["red Apple", "an apple is round and fell down today"])

    assert float(first @ second) == pytest.approx(0.25)


async def test_a_word_stands_at_its_crc() -> None:
    """A one-word text is 1 at the word's position and 0 elsewhere, whatever its case."""
    vectors = await WordEmbedder(width=16).embed(["Orion", "orion orion"])

    expected = np.zeros((2, 16), dtype=np.float32)
    expected[:, 320844814 % 16] = 1.0  # the CRC-32 of b"orion"
    assert np.array_equal(vectors, expected)
    assert word_position("ORION", 16) == 14


async def test_a_text_without_words_is_zero() -> None:
    """No words, no direction; no texts, no rows."""
    embedder = WordEmbedder(width=8)

    assert np.array_equal(await embedder.embed(["?!"]), np.zeros((1, 8), dtype=np.float32))
    assert (await embedder.embed([])).shape == (0, 8)
    assert embedder.embedded == ["?!"]
