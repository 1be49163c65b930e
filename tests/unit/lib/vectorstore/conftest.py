"""Stores of a few texts, embedded by their words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from holodeck.lib.documents import Document, Place
from holodeck.lib.indexes.text_units import TextUnit, prepare
from holodeck.lib.vectorstore.store import ChunkStore, open_store, write_store
from holodeck.testing.words import word_vector

WIDTH = 4096


class MakeStore(Protocol):
    def __call__(self, texts: Sequence[str]) -> ChunkStore:
        """Write and open a store of one chunk a text; text ``i`` stands in ``{i}.txt``."""


def units(texts: Sequence[str]) -> tuple[TextUnit, ...]:
    documents = [
        Document(place=Place(path=f"{number}.txt"), text=text) for number, text in enumerate(texts)
    ]
    return prepare(documents, 500, 0).text_units


@pytest.fixture
def make_store(tmp_path: Path) -> MakeStore:
    """The writer of stores."""

    def make(texts: Sequence[str]) -> ChunkStore:
        chunks = units(texts)
        folder = tmp_path / "store"
        vectors = np.array([word_vector(chunk.text, WIDTH) for chunk in chunks], dtype=np.float32)
        write_store(folder, chunks, vectors.reshape(len(chunks), WIDTH))
        return open_store(folder)

    return make
