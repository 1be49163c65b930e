"""What a search returns, and how it is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holodeck.lib.documents import Place

__all__ = [
    "Passage",
    "SearchResult",
    "Source",
    "as_json",
    "format_graph_result",
    "format_passages",
    "source_as_json",
]

SOURCES_PRINTED = 5
"""Sources in the text that an agent reads; ``SearchResult.sources`` holds them all."""

FIELDS_PRINTED = 20
"""Fields of a record that are printed with a passage; ``Source.metadata`` holds them all."""

FIELD_PRINTED = 500
"""Characters that are printed of such a field."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A place in the user's documents that stands in the context of an answer.

    Attributes:
        place: File and page or record.
        text_unit_id: Id of the text unit (graph engine) or chunk (default engine).
        reference: The number by which an answer's ``[Data: Sources (n)]`` names it.
        text: The text unit itself.
        record_id: What identifies the record there, where YAML names the field.
        metadata: The fields of the record there.
    """

    place: Place
    text_unit_id: str
    reference: int | None = None
    text: str = ""
    record_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def path(self) -> str:
        """Path relative to the source root."""
        return self.place.path

    @property
    def page(self) -> int | None:
        """1-based page, for paged documents."""
        return self.place.page

    @property
    def row(self) -> int | None:
        """1-based record, for tables and lists."""
        return self.place.row

    def __str__(self) -> str:
        return str(self.place)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A text that the default engine found, with its score (higher is better).

    Attributes:
        source: The first place where the text stands.
        also: Its other places: copies of a file, rows that say the same.
    """

    text: str
    score: float
    source: Source
    also: tuple[Source, ...] = ()

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """Every place where the text stands."""
        return (self.source, *self.also)


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """An answer with everything it was made from.

    Attributes:
        response: The answer itself.
        search_mode: The mode that was used, as the engine names it.
        sources: What stands in the context, in order of use.
        entities_used: Entities in the context; not the size of the index.
        communities_used: Community reports in the context.
        context: The text that the answer was made from, for evaluation.
        passages: What the default engine found; empty for a graph engine.
        references: What the answer's ``[Data: ...]`` marks stand for: dataset name, number → title.
        reference_sources: What each of them rests on: dataset name, number → places.
        notes: Losses, cuts and limits that the reader should know.
    """

    response: str
    search_mode: str
    sources: Sequence[Source] = ()
    entities_used: int = 0
    communities_used: int = 0
    context: str = ""
    passages: Sequence[Passage] = ()
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    reference_sources: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        return self.response


def format_graph_result(result: SearchResult) -> str:
    """Return the text of contract §9.1; notes follow after the sources."""
    lines = [
        f"**GraphRAG {result.search_mode.title()} Search Result**",
        "",
        result.response,
        "",
        "---",
        f"*Mode: {result.search_mode} | Entities: {result.entities_used} | "
        f"Communities: {result.communities_used}*",
    ]
    printed = list(dict.fromkeys(str(source) for source in result.sources))[:SOURCES_PRINTED]
    if printed:
        lines += ["", "**Sources:**", *(f"- {source}" for source in printed)]
    return "\n".join(lines) + _notes(result)


def format_passages(query: str, result: SearchResult) -> str:
    """Return the passages of the default engine as ``[i] Score: … | Source: …`` blocks."""
    if not result.passages:
        return f"No relevant results found for query: {query}" + _notes(result)
    blocks = [f"Found {len(result.passages)} result(s):"]
    for number, passage in enumerate(result.passages, start=1):
        head = f"[{number}] Score: {passage.score:.2f} | Source: {_places(passage)}"
        if passage.source.record_id is not None:
            head += f" | Id: {passage.source.record_id}"
        blocks.append("\n".join([head, passage.text, *_unsaid(passage)]))
    return "\n\n".join(blocks) + _notes(result)


def _unsaid(passage: Passage) -> list[str]:
    """Return the fields of a record that its text does not say, cut to what a model may read.

    A passage may be a piece of a record, which as a whole would come with each of its pieces.
    """
    lines = (f"{name}: {value}" for name, value in passage.source.metadata.items())
    unsaid = [line for line in lines if line not in passage.text]
    shown = [_shortened(line) for line in unsaid[:FIELDS_PRINTED]]
    if len(unsaid) > len(shown):
        shown.append(f"and {len(unsaid) - len(shown):,} more fields")
    return [f"Metadata: {'; '.join(shown)}"] if unsaid else []


def _shortened(line: str) -> str:
    left = len(line) - FIELD_PRINTED
    return f"{line[:FIELD_PRINTED]}… ({left:,} more characters)" if left > 0 else line


def _places(passage: Passage) -> str:
    """Return the places of a passage, as many as are printed of sources."""
    printed = [str(source) for source in passage.all_sources[:SOURCES_PRINTED]]
    left = len(passage.all_sources) - len(printed)
    return "; ".join([*printed, *([f"and {left} more"] if left else [])])


def _notes(result: SearchResult) -> str:
    return "".join(f"\n\n*Note: {note}*" for note in result.notes)


def as_json(result: SearchResult) -> dict[str, Any]:  # Any: JSON
    """Return the result as the one JSON document that ``--json`` prints."""
    return {
        "response": result.response,
        "search_mode": result.search_mode,
        "entities_used": result.entities_used,
        "communities_used": result.communities_used,
        "sources": [source_as_json(source) for source in result.sources],
        "passages": [
            {"score": passage.score, "text": passage.text, **source_as_json(passage.source)}
            for passage in result.passages
        ],
        "references": result.references,
        "reference_sources": result.reference_sources,
        "context": result.context,
        "notes": list(result.notes),
    }


def source_as_json(source: Source) -> dict[str, Any]:  # Any: JSON
    """Return a source as ``--json`` prints it."""
    return {
        "path": source.path,
        "page": source.page,
        "row": source.row,
        "text_unit_id": source.text_unit_id,
        "reference": source.reference,
        "record_id": source.record_id,
        "metadata": dict(source.metadata),
    }
