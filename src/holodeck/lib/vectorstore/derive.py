"""Chunks → the arrays that a search works on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.checked_arrays import Arrays
from holodeck.lib.indexes.places import place_arrays
from holodeck.lib.indexes.texts import text_arrays
from holodeck.lib.ranking.terms import TERMS_VERSION
from holodeck.lib.ranking.vectors import Vectors
from holodeck.lib.ranking.words import WordIndex
from holodeck.lib.vectorstore.chunks import ChunkRows
from holodeck.lib.vectorstore.records import record_arrays

__all__ = ["DERIVED_VERSION", "derive_arrays"]

DERIVED_VERSION = f"3.{TERMS_VERSION}"
"""The first number is raised when the same chunks give other arrays."""

_ID_BYTES = 16


def derive_arrays(rows: ChunkRows) -> Arrays:
    """Return everything that a search needs, so that it need not read the table."""
    chunks = rows.chunks
    parts: dict[str, Mapping[str, NDArray[Any]]] = {
        "chunks": {
            "ids": np.frombuffer(
                bytes.fromhex("".join(chunk.id for chunk in chunks)), dtype=np.uint8
            ).reshape(-1, _ID_BYTES),
            **text_arrays("texts", (chunk.text for chunk in chunks)),
        },
        "places": place_arrays([at.place for at in chunk.places] for chunk in chunks),
        "records": record_arrays(at for chunk in chunks for at in chunk.places),
        "vectors": Vectors.of(np.arange(len(chunks)), rows.vectors).arrays,
        "words": WordIndex.of(chunk.text for chunk in chunks).arrays,
    }
    return {f"{part}.{name}": array for part, all_ in parts.items() for name, array in all_.items()}
