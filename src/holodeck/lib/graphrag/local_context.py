"""A question → the context of a local search; a ranking is a function and a row in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holodeck.lib.contracts import AnswerContext
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.values import LOCAL_VALUES, LocalValues
from holodeck.lib.imports import load_object

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "RANKINGS",
    "LocalQuestion",
    "LocalSelection",
    "Ranking",
    "select_local",
]


@dataclass(frozen=True, kw_only=True)
class LocalQuestion:
    """A question as a ranking needs it.

    Attributes:
        text: Not blank.
        vector: Its embedding.
        level: Deepest community level to use.
    """

    text: str
    vector: NDArray[np.float32]
    level: int


@dataclass(frozen=True, kw_only=True)
class LocalSelection:
    """The context and, in order of use, the rows of its text units."""

    context: AnswerContext
    text_units: tuple[int, ...]


Ranking = Callable[[GraphIndex, LocalQuestion, LocalValues], LocalSelection]


RANKINGS: Mapping[str, str] = {
    "graph": "holodeck.lib.graphrag.local_graph:select_graph",
    "library": "holodeck.lib.graphrag.local_library:select_library",
}
"""Ranking → its function, ``(GraphIndex, LocalQuestion, LocalValues) -> LocalSelection``."""


def select_local(
    index: GraphIndex, question: LocalQuestion, ranking: str, values: LocalValues | None = None
) -> LocalSelection:
    """Build the context of a question; without ``values``, by those of the ranking."""
    select: Ranking = load_object(RANKINGS[ranking])
    return select(index, question, values or LOCAL_VALUES[ranking])
