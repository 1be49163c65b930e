"""Which reports a global search reads: those of a level, or those that a model finds helpful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holodeck.lib.contracts import ContextReport, Rating, RatingSteps
from holodeck.lib.graphrag.causes import causes_of
from holodeck.lib.graphrag.graph_index import GraphIndex

__all__ = ["ReportSelection", "rated_reports", "reports_of_level"]

HELPFUL = 1.0
"""Rating from which a report is read, and looked below."""


@dataclass(frozen=True, kw_only=True)
class ReportSelection:
    """The reports that an answer is made from, best rank first, and what to say of the choice."""

    reports: tuple[ContextReport, ...]
    notes: tuple[str, ...] = ()


def reports_of_level(index: GraphIndex, level: int) -> ReportSelection:
    """Choose the finest report of at most the level for every entity."""
    numbers = np.unique(index.finest_communities(level)).tolist()
    return ReportSelection(reports=_in_order(index, numbers))


async def rated_reports(
    index: GraphIndex, level: int, question: str, rater: RatingSteps
) -> ReportSelection:
    """Choose the reports that help to answer, from the roots down.

    Below a report that helps, its parts are rated; where one of them helps, it is read instead. As
    long as nothing helps at all, the search goes on one level deeper. A report whose rating could
    not be had is read.
    """
    communities = index.communities
    chosen: set[int] = set()
    rated = 0
    failures: list[str] = []
    frontier = communities.children.get(-1, [])
    while frontier:
        reported = [number for number in frontier if number in index.reports]
        given = await rater.rate_reports(question, [index.reports[each] for each in reported])
        ratings = dict(zip(reported, given, strict=True))
        lost = [rating.failure for rating in given if rating.value is None]
        rated += len(reported) - len(lost)
        failures += lost
        helpful = {number for number, rating in ratings.items() if _is_read(rating)}
        parents = {int(communities.parents[communities.row_of[number]]) for number in helpful}
        chosen = (chosen - parents) | helpful
        # A community without a report is looked through.
        passed = [n for n in frontier if n in helpful or n not in ratings or not chosen]
        frontier = [
            part
            for number in passed
            for part in communities.children.get(number, [])
            if communities.levels[communities.row_of[part]] <= level
        ]
    notes = [f"of {len(index.reports)} community reports {rated} were rated, {len(chosen)} read"]
    if failures:
        notes.append(
            f"{len(failures)} of the ratings could not be had ({causes_of(failures)}): those "
            "reports were read"
        )
    return ReportSelection(reports=_in_order(index, chosen), notes=tuple(notes))


def _is_read(rating: Rating) -> bool:
    return rating.value is None or rating.value >= HELPFUL


def _in_order(index: GraphIndex, numbers: Sequence[int] | set[int]) -> tuple[ContextReport, ...]:
    reports = [index.reports[number] for number in numbers if number in index.reports]
    return tuple(sorted(reports, key=lambda report: (-report.rank, report.number)))
