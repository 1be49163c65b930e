"""The report of a small community without a model: its records, which are shorter than a report."""

from __future__ import annotations

from holodeck.lib.contracts import CommunityContext, Finding, Report

__all__ = ["quoted_report"]

_NAMES = 3
_GREATEST_RATING = 10.0


def quoted_report(community: CommunityContext) -> Report:
    """Return a report that quotes every record; the more of them, the higher it is rated."""
    entities, edges = community.entities, community.relationships
    names = [entity.title for entity in entities]
    findings = [
        Finding(
            summary=f"{edge.source} – {edge.target}",
            explanation=f"{edge.description} [Data: Relationships ({edge.number})]".strip(),
        )
        for edge in edges
    ] + [
        Finding(
            summary=entity.title,
            explanation=f"{entity.description} [Data: Entities ({entity.number})]",
        )
        for entity in entities
        if entity.description.strip()
    ]
    return Report(
        title=", ".join(names[:_NAMES]),
        summary=f"What the documents say of {', '.join(names)}.",
        findings=tuple(findings),
        rating=min(_GREATEST_RATING, len(entities) / 2),
        rating_explanation="Rated by the number of things that it is about.",
    )
