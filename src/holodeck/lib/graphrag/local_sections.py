"""Records → the sections of a local context: tables in the library's form, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from holodeck.lib.contracts import (
    AnswerContext,
    ContextClaim,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    ContextTextUnit,
)
from holodeck.lib.graphrag.write_context import TokenCounts, report_batch, table_text
from holodeck.lib.tokens import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.graphrag.graph_index import GraphIndex

__all__ = [
    "CLAIMS",
    "EDGES",
    "ENTITIES",
    "REPORTS",
    "UNITS",
    "Claims",
    "Edges",
    "Entities",
    "Reports",
    "Section",
    "Table",
    "Units",
    "context_of",
    "known_counts",
    "line_tokens",
]

Record = TypeVar("Record")


@dataclass(frozen=True, kw_only=True)
class Section(Generic[Record]):
    """A table of a context: its text and the records that it shows.

    Attributes:
        rows: Of the records, where they are looked up.
        tokens: Of the text.
    """

    text: str = ""
    rows: tuple[int, ...] = ()
    records: tuple[Record, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Table(Generic[Record]):
    """A kind of table.

    Attributes:
        line: Record → its line, with its end.
    """

    name: str
    columns: tuple[str, ...]
    line: Callable[[Record], str]

    @property
    def key(self) -> str:
        """What its lines are counted under."""
        return f"{self.name}{len(self.columns)}"

    @cached_property
    def top(self) -> str:
        """What stands over the lines."""
        return table_text(self.name, self.columns, ())

    @cached_property
    def top_tokens(self) -> int:
        """Tokens of what stands over the lines."""
        return count_tokens(self.top)

    def fill(
        self,
        rows: Iterable[int],
        record_of: Callable[[int], Record],
        budget: int,
        counts: TokenCounts,
        *,
        skip: bool = False,
    ) -> Section[Record]:
        """Return the section of the leading records that fit ``budget`` tokens, its top among them.

        Args:
            rows: Of the records; no more are asked for than are looked at.
            record_of: Row → record.
            budget: Tokens.
            counts: Tokens of the lines that were seen before.
            skip: Pass over a line that does not fit, instead of ending there.
        """
        known = counts.known(self.key)
        used = self.top_tokens
        chosen: list[int] = []
        misses = 0
        for row in rows:
            if known is None:
                size = counts.of(self.key, row, self.line(record_of(row)))
            else:
                size = int(known[row])
            if used + size > budget:
                misses += 1
                if skip and misses < _MISSES:
                    continue
                break
            used += size
            chosen.append(row)
        return self._section(chosen, record_of, used)

    def reorder(self, section: Section[Record], rows: Iterable[int]) -> Section[Record]:
        """Return a section with its records in the order of ``rows``."""
        records = dict(zip(section.rows, section.records, strict=True))
        return self._section(rows, records.__getitem__, section.tokens)

    def _section(
        self, rows: Iterable[int], record_of: Callable[[int], Record], tokens: int
    ) -> Section[Record]:
        shown = tuple(rows)
        records = tuple(map(record_of, shown))
        text = self.top + "".join(map(self.line, records))
        return Section(text=text, rows=shown, records=records, tokens=tokens)


_MISSES = 20
"""Records that do not fit, after which no smaller one is looked for."""


Claims = Section[ContextClaim]
Edges = Section[ContextRelationship]
Entities = Section[ContextEntity]
Reports = Section[ContextReport]
Units = Section[ContextTextUnit]


def context_of(
    text: str,
    *,
    reports: Reports,
    entities: Entities,
    edges: Edges,
    claims: Claims,
    units: Units,
) -> AnswerContext:
    """Return a context with the records that its text shows."""
    return AnswerContext(
        text=text,
        reports=reports.records,
        entities=entities.records,
        relationships=edges.records,
        claims=claims.records,
        text_units=units.records,
    )


def _report_line(report: ContextReport) -> str:
    return f"{report.number}|{report.title}|{report.content}\n"


def _entity_line(entity: ContextEntity) -> str:
    return f"{entity.number}|{entity.title}|{entity.description}|{entity.degree}\n"


def _edge_line(edge: ContextRelationship) -> str:
    # A weight of nothing is left blank.
    ends = f"{edge.source}|{edge.target}"
    return f"{edge.number}|{ends}|{edge.description}|{edge.weight or ''}\n"


def _unit_line(unit: ContextTextUnit) -> str:
    return f"{unit.number}|{unit.text}\n"


def _claim_line(claimed: ContextClaim) -> str:
    claim = claimed.claim
    fields = (
        str(claimed.number),
        claim.subject,
        claim.object,
        claim.status,
        claim.start_date,
        claim.end_date,
        claim.description,
    )
    return "|".join(fields) + "\n"


REPORTS: Final = Table(name="Reports", columns=("id", "title", "content"), line=_report_line)
ENTITIES: Final = Table(
    name="Entities",
    columns=("id", "entity", "description", "number of relationships"),
    line=_entity_line,
)
EDGES: Final = Table(
    name="Relationships",
    columns=("id", "source", "target", "description", "weight"),
    line=_edge_line,
)
CLAIMS: Final = Table(
    name="Claims",
    columns=("id", "entity", "object_id", "status", "start_date", "end_date", "description"),
    line=_claim_line,
)
UNITS: Final = Table(name="Sources", columns=("id", "text"), line=_unit_line)


def line_tokens(
    index: GraphIndex, count: Callable[[str], int] = count_tokens
) -> dict[str, NDArray[np.int32]]:
    """Return the tokens of every line that a context may show, by record."""
    import numpy as np

    entities, edges, units = index.entities, index.edges, index.text_units
    reports = index.reports.values()
    lines: dict[str, Iterable[str]] = {
        "entities": (ENTITIES.line(entities.record(row)) for row in range(len(entities))),
        "edges": (EDGES.line(edges.record(row)) for row in range(len(edges))),
        "units": (UNITS.line(units.record(row)) for row in range(len(units))),
        "reports": map(REPORTS.line, reports),
        "batched": (report_batch([report], header=False) for report in reports),
    }
    return {name: np.fromiter(map(count, each), dtype=np.int32) for name, each in lines.items()}


def known_counts(
    tokens: Mapping[str, NDArray[np.int32]], reports: Iterable[int]
) -> dict[str, Mapping[int, int] | NDArray[np.int32]]:
    """Return what ``line_tokens`` said, by the tables that ``Table.fill`` fills."""
    return {
        ENTITIES.key: tokens["entities"],
        EDGES.key: tokens["edges"],
        UNITS.key: tokens["units"],
        REPORTS.key: dict(zip(reports, tokens["reports"].tolist(), strict=True)),
    }
