"""An answer's ``[Data: ...]`` marks → the records that they stand for, and where those stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holodeck.lib.contracts import AnswerContext
from holodeck.lib.graphrag.graph_index import GraphIndex

__all__ = ["Cited", "cited_records", "shown_in"]

Titles = Mapping[str, Mapping[int, str]]

_DATA = re.compile(r"\[Data:([^\]]*)\]")
_SET = re.compile(r"(\w+)\s*\(([^)]*)\)")
_NO_RECORD = ("+more",)
"""What prompts let an answer write in place of further numbers."""


@dataclass(frozen=True, kw_only=True)
class Cited:
    """What an answer refers to.

    Attributes:
        titles: Dataset → number → title of the record.
        sources: Dataset → number → places of the texts that the record rests on.
        notes: What the answer refers to and was not given.
    """

    titles: dict[str, dict[str, str]]
    sources: dict[str, dict[str, list[str]]]
    notes: tuple[str, ...]

    def ordered(self, dataset: str, numbers: Iterable[int]) -> list[int]:
        """Return the numbers, cited ones first in the order of citation."""
        cited = {int(number): place for place, number in enumerate(self.titles.get(dataset, ()))}
        return sorted(numbers, key=lambda number: cited.get(number, len(cited)))


def shown_in(context: AnswerContext) -> Titles:
    """Return the titles of what a local context shows, by the names of its tables."""
    return {
        "Entities": {each.number: each.title for each in context.entities},
        "Relationships": {
            each.number: f"{each.source} – {each.target}" for each in context.relationships
        },
        "Claims": {each.number: each.claim.description for each in context.claims},
        "Reports": {each.number: each.title for each in context.reports},
        "Sources": {each.number: "" for each in context.text_units},
    }


def cited_records(response: str, index: GraphIndex, shown: Titles) -> Cited:
    """Return the records that an answer refers to, of those that it was shown."""
    titles: dict[str, dict[str, str]] = {}
    sources: dict[str, dict[str, list[str]]] = {}
    unknown: dict[str, None] = {}
    for dataset, mark in _citations(response):
        number = int(mark) if mark.isascii() and mark.isdigit() else None
        if number is None or number not in shown.get(dataset, {}):
            unknown[f"{dataset} ({mark})"] = None
            continue
        places = _places(index, _texts_of(index, dataset, number))
        title = shown[dataset][number] or ", ".join(places)
        titles.setdefault(dataset, {})[str(number)] = title
        sources.setdefault(dataset, {})[str(number)] = places
    notes = (
        (f"the answer refers to {', '.join(unknown)}, which it was not given",) if unknown else ()
    )
    return Cited(titles=titles, sources=sources, notes=notes)


def _citations(response: str) -> list[tuple[str, str]]:
    return [
        (name, part)
        for mark in _DATA.findall(response)
        for name, listed in _SET.findall(mark)
        for part in map(str.strip, listed.split(","))
        if part and part not in _NO_RECORD
    ]


def _texts_of(index: GraphIndex, dataset: str, number: int) -> Sequence[int]:
    """Return the text units that a record rests on."""
    if dataset == "Sources":
        return [number]
    if dataset == "Reports":
        return index.communities.texts_of(number)
    if dataset == "Claims":
        return [index.claim_units[number]] if number in index.claim_units else []
    table = index.entities if dataset == "Entities" else index.edges
    rows = (table.numbers == number).nonzero()[0].tolist()
    found: list[int] = [unit for row in rows for unit in table.units.of(row).tolist()]
    return found


def _places(index: GraphIndex, units: Iterable[int]) -> list[str]:
    places = (str(place) for unit in units for place in index.text_units.places[unit])
    return list(dict.fromkeys(places))
