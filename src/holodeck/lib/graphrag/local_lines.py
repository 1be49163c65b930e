"""Records → the lines of a local context, in the library's form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import AnswerContext, ContextClaim
from holodeck.lib.graphrag.counted_lines import CountedLines
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.write_context import report_batch
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.tokens import count_tokens

__all__ = [
    "CLAIM_HEADER",
    "EDGE_HEADER",
    "ENTITY_HEADER",
    "REPORT_HEADER",
    "UNIT_HEADER",
    "claim_lines",
    "edge_line",
    "entity_lines",
    "known_counts",
    "line_tokens",
    "report_line",
    "shown_context",
    "unit_lines",
]

REPORT_HEADER = ("id", "title", "content")
ENTITY_HEADER = ("id", "entity", "description", "number of relationships")
EDGE_HEADER = ("id", "source", "target", "description", "weight")
CLAIM_HEADER = ("id", "entity", "object_id", "status", "start_date", "end_date", "description")
UNIT_HEADER = ("id", "text")

Lines = Iterator[tuple[int, str]]


def line_tokens(index: GraphIndex, memo: StepMemo | None = None) -> dict[str, NDArray[np.int32]]:
    """Return the tokens of every line that a context may show, by record.

    Args:
        index: The records.
        memo: Of what was counted before.
    """
    count = count_tokens if memo is None else CountedLines(memo)
    entities, edges, units = (
        range(len(t)) for t in (index.entities, index.edges, index.text_units)
    )
    lines: dict[str, Iterable[str]] = {
        "entities": (line for _, line in entity_lines(index, entities)),
        "edges": (edge_line(index, row) for row in edges),
        "units": (line for _, line in unit_lines(index, units)),
        "reports": (report_line(index, number) for number in index.reports),
        "batched": (report_batch([report], header=False) for report in index.reports.values()),
    }
    return {name: np.fromiter(map(count, each), dtype=np.int32) for name, each in lines.items()}


def known_counts(
    tokens: Mapping[str, NDArray[np.int32]], reports: Iterable[int]
) -> dict[str, Mapping[int, int] | NDArray[np.int32]]:
    """Return what ``line_tokens`` said, by the names that ``fill_section`` counts by."""
    return {
        f"Entities{len(ENTITY_HEADER)}": tokens["entities"],
        f"Relationships{len(EDGE_HEADER)}": tokens["edges"],
        f"Sources{len(UNIT_HEADER)}": tokens["units"],
        f"Reports{len(REPORT_HEADER)}": dict(zip(reports, tokens["reports"].tolist(), strict=True)),
    }


def report_line(index: GraphIndex, number: int) -> str:
    """Return the line of a report."""
    report = index.reports[number]
    return f"{report.number}|{report.title}|{report.content}\n"


def entity_lines(index: GraphIndex, rows: Iterable[int]) -> Lines:
    """Yield the lines of entities."""
    every = index.entities
    for row in rows:
        yield (
            row,
            f"{every.numbers[row]}|{every.titles[row]}|{every.descriptions[row]}"
            f"|{every.degrees[row]}\n",
        )


def edge_line(index: GraphIndex, row: int) -> str:
    """Return the line of a relationship; a weight of nothing is left blank."""
    every = index.edges
    return (
        f"{every.numbers[row]}|{every.names[every.sources[row]]}|{every.names[every.targets[row]]}"
        f"|{every.descriptions[row]}|{float(every.weights[row]) or ''}\n"
    )


def unit_lines(index: GraphIndex, rows: Iterable[int]) -> Lines:
    """Yield the lines of text units."""
    for row in rows:
        yield row, f"{row}|{index.text_units.texts[row]}\n"


def claim_lines(claims: Iterable[ContextClaim]) -> Lines:
    """Yield the lines of claims, by their place."""
    for place, each in enumerate(claims):
        claim = each.claim
        fields = (
            str(each.number),
            claim.subject,
            claim.object,
            claim.status,
            claim.start_date,
            claim.end_date,
            claim.description,
        )
        yield place, "|".join(fields) + "\n"


def shown_context(
    index: GraphIndex,
    text: str,
    *,
    reports: Iterable[int],
    entities: Iterable[int],
    edges: Iterable[int],
    claims: Iterable[ContextClaim],
    text_units: Iterable[int],
) -> AnswerContext:
    """Return the context with the records that its text shows."""
    return AnswerContext(
        text=text,
        entities=tuple(index.entities.record(row) for row in entities),
        relationships=tuple(index.edges.record(row) for row in edges),
        claims=tuple(claims),
        reports=tuple(index.reports[number] for number in reports),
        text_units=tuple(index.text_units.record(row) for row in text_units),
    )
