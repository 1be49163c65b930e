"""An answer's ``[Data: ...]`` marks → the records that they stand for, and where those stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holodeck.lib.contracts import AnswerContext
from holodeck.lib.graphrag.graph_index import GraphIndex

__all__ = ["Cited", "cited_records", "shown_in"]

Titles = Mapping[str, Mapping[int, str]]

_DATA = re.compile(r"[\[【]\s*Data\s*[:：]([^\]】]*)[\]】]", re.IGNORECASE)
_SET = re.compile(r"(\w+)\s*\(([^)]*)\)")
_MORE = re.compile(r"\+\s*more", re.IGNORECASE)
"""What prompts let an answer write in place of further numbers."""
_RANGE = re.compile(r"(\d{1,9})\s*[-–]\s*(\d{1,9})")
_WIDEST = 100
"""Numbers of a range that is read; a wider one is no reference that anybody can follow."""
_LONGEST_MARK = 30
_DATASETS = {
    spelling: name
    for name, one in (
        ("Entities", "entity"),
        ("Relationships", "relationship"),
        ("Claims", "claim"),
        ("Reports", "report"),
        ("Sources", "source"),
    )
    for spelling in (name.casefold(), one)
}


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
        number = int(mark) if mark.isascii() and mark.isdigit() and len(mark) < 10 else None
        if number is None or number not in shown.get(dataset, {}):
            unknown[f"{dataset} ({mark[:_LONGEST_MARK]})"] = None
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
        (_DATASETS.get(name.casefold(), name), number)
        for mark in _DATA.findall(response)
        for name, listed in _SET.findall(mark)
        for part in re.split("[,;]", _MORE.sub(",", listed))
        for number in _numbers(part.strip())
    ]


def _numbers(part: str) -> Iterator[str]:
    """Yield the numbers that a part of a list stands for."""
    bounds = _RANGE.fullmatch(part)
    first, last = map(int, bounds.groups()) if bounds else (0, -1)
    if first <= last < first + _WIDEST:
        yield from map(str, range(first, last + 1))
    elif part:
        yield part


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
