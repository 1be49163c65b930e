"""A question → the context of a local search; a ranking is a function and a row in the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holodeck.lib.contracts import AnswerContext
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.values import LOCAL_VALUES, LocalValues
from holodeck.lib.graphrag.write_context import TokenCounts, table_text
from holodeck.lib.imports import load_object
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "RANKINGS",
    "LocalQuestion",
    "LocalSelection",
    "Ranking",
    "Section",
    "fill_section",
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


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table of a context: its text and the rows that it shows.

    Attributes:
        tokens: Of the text.
    """

    text: str
    rows: tuple[int, ...]
    tokens: int


def fill_section(
    name: str,
    header: Sequence[str],
    lines: Iterable[tuple[int, str]],
    budget: int,
    counts: TokenCounts,
    *,
    skip: bool = False,
) -> Section:
    """Return the table of the leading lines that fit ``budget`` tokens, the header among them.

    Args:
        name: Of the table.
        header: Its columns.
        lines: Row and line of each record; no more are asked for than are looked at.
        budget: Tokens.
        counts: Tokens of the lines that were seen before.
        skip: Pass over a line that does not fit, instead of ending there.
    """
    top = table_text(name, header, ())
    used = count_tokens(top)
    shown: list[str] = []
    rows: list[int] = []
    misses = 0
    for row, line in lines:
        size = counts.of(f"{name}{len(header)}", row, line)
        if used + size > budget:
            misses += 1
            if skip and misses < _MISSES:
                continue
            break
        used += size
        shown.append(line)
        rows.append(row)
    return Section(text=top + "".join(shown), rows=tuple(rows), tokens=used)


_MISSES = 20
"""Records that do not fit, after which no smaller one is looked for."""


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
