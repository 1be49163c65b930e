"""Vectors that a test can compute by hand: one position a word."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holodeck.lib.contracts import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["WordEmbedder", "word_position", "word_vector"]

_WORD = re.compile(r"\w+")


def word_position(word: str, width: int) -> int:
    """Return the position of ``word``: CRC-32 of its lower-cased UTF-8 bytes, modulo ``width``."""
    return zlib.crc32(word.lower().encode("utf-8")) % width


def word_vector(text: str, width: int) -> list[float]:
    """Return the vector of ``text``: 1 at each distinct word's position, scaled to length 1.

    A text without words gives the zero vector.
    """
    positions = {word_position(word, width) for word in _WORD.findall(text)}
    value = len(positions) ** -0.5 if positions else 0.0
    return [value if position in positions else 0.0 for position in range(width)]


class WordEmbedder(Embedder):
    """Embed a text as the set of its words: texts that share words are near each other.

    Two texts of ``a`` and ``b`` distinct words that share ``s`` have the dot product
    ``s / sqrt(a * b)``, as long as no two words fall on one position (see ``word_position``).

    Attributes:
        width: Length of the vectors.
        embedded: Every text that was embedded, in order.
    """

    provider = "testing"

    def __init__(self, width: int = 256, name: str = "words") -> None:
        self.width = width
        self.name = name
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, in order."""
        import numpy as np

        self.embedded.extend(texts)
        rows = [word_vector(text, self.width) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.width)
