"""A report as it is remembered, whatever numbers its community's records have in the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from holodeck.lib.contracts import Finding, Report

__all__ = ["KeptReport"]


@dataclass(frozen=True, kw_only=True)
class KeptReport:
    """A report, its references those of its prompt.

    Attributes:
        places: Kind of record → for each record of the prompt, its place among the community's.
    """

    report: Report
    places: Mapping[str, Sequence[int]]

    @classmethod
    def of(
        cls,
        report: Report,
        shown: Mapping[str, Sequence[int]],
        numbers: Mapping[str, Sequence[int]],
    ) -> Self:
        """Return what is remembered of a report.

        Args:
            report: As it was written.
            shown: Kind → the numbers in the tables of the records of the prompt, in its order.
            numbers: Kind → those of all records of the community.
        """
        place_of = {
            kind: {number: place for place, number in enumerate(every)}
            for kind, every in numbers.items()
        }
        places = {kind: [place_of[kind][each] for each in some] for kind, some in shown.items()}
        return cls(report=report, places=places)

    def shown(self, numbers: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
        """Return what ``of`` was given, by the numbers of today."""
        return {
            kind: [numbers[kind][place] for place in places] for kind, places in self.places.items()
        }

    def to_json(self) -> dict[str, Any]:  # Any: JSON
        """Return what ``from_json`` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:  # Any: JSON
        """Return the report."""
        told = content["report"]
        findings = tuple(Finding(**each) for each in told["findings"])
        report = Report(**{**told, "findings": findings, "repairs": tuple(told["repairs"])})
        return cls(report=report, places=content["places"])
