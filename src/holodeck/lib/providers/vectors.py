"""What every embedder owes: rows of one width and of length 1."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holodeck.lib.providers.seam import Seam

__all__ = ["UnusableVectorError", "numbers_of", "one_for_each", "unit_rows", "usable_rows"]

_EXCERPT = 40


class UnusableVectorError(Exception):
    """A vector has another width or is not made of numbers; the message names its text."""


def one_for_each(texts: Sequence[str], found: object, seam: Seam) -> list[Any]:  # Any: JSON
    """Return what a server's answer lists, if that is as much as there are texts.

    Raises:
        ProviderError: It is no list, or has too few or too many.
    """
    if not isinstance(found, list):
        raise seam.unusable("it holds no embeddings: check the URL", retryable=False)
    if len(found) != len(texts):
        raise seam.unusable(f"{len(found)} vectors for {len(texts)} texts")
    return found


def usable_rows(
    sent: Sequence[object], texts: Sequence[str], seam: Seam, *, width: int | None
) -> NDArray[np.float32]:
    """Return the vectors that a server sent as rows; arguments as for ``unit_rows``.

    Raises:
        ProviderError: Names the first text whose vector cannot be used.
    """
    try:
        return unit_rows([numbers_of(each) for each in sent], texts, width=width)
    except UnusableVectorError as error:
        raise seam.unusable(str(error), retryable=False) from error


def numbers_of(sent: object) -> NDArray[np.float32]:
    """Return the numbers that a server sent: a list, or base64 of little-endian floats.

    Raises:
        UnusableVectorError: It is nothing of the kind.
    """
    try:
        if isinstance(sent, str):
            return np.frombuffer(base64.b64decode(sent), dtype="<f4")
        return np.asarray(sent, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise UnusableVectorError("an embedding in it cannot be read") from error


def unit_rows(
    rows: Sequence[NDArray[np.float32]], texts: Sequence[str], *, width: int | None = None
) -> NDArray[np.float32]:
    """Return ``rows`` as one array of float32 whose rows have length 1 (or are zero).

    Args:
        rows: One vector a text.
        texts: What the vectors are of, to name one.
        width: The width that is due; default: the first row's.

    Raises:
        UnusableVectorError: Names the first text whose vector cannot be used.
    """
    due = width or (rows[0].shape[-1] if rows and rows[0].ndim else 0)
    for number, (row, text) in enumerate(zip(rows, texts, strict=True), start=1):
        if row.ndim != 1:
            raise UnusableVectorError(
                "each text has to get one vector, and the server sends one for each token: start "
                "it with pooling, or use a model that is made for embeddings"
            )
        named = f"text {number} of {len(texts)} ({_excerpt(text)})"
        if len(row) != due or not due:
            raise UnusableVectorError(
                f"the vector of {named} has {len(row)} numbers, and {due} are due: the model's "
                "width must not change"
            )
        if not np.isfinite(row).all():
            raise UnusableVectorError(f"the vector of {named} holds infinities or no numbers")
    stacked = np.array(rows, dtype=np.float32).reshape(len(rows), due)
    lengths = np.linalg.norm(stacked, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.zeros_like(stacked)
    np.divide(stacked, lengths, out=unit, where=lengths > 0)
    return unit


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…")
