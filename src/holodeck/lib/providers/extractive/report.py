"""A community → its report: quoted sentences, with a title and a rating that are computed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from holodeck.lib.contracts import (
    CommunityContext,
    ContextEntity,
    ContextRelationship,
    Finding,
    Report,
)
from holodeck.lib.providers.extractive.cite import cite, without_references
from holodeck.lib.providers.extractive.describe import best_sentences, distinct_sentences
from holodeck.lib.providers.extractive.words import sentence_key

__all__ = ["write_report"]

_IN_TITLE = 3
_SUMMARY_SENTENCES = 2
_FINDINGS = 5
_QUOTES = 3  # sentences in the explanation of a finding


def write_report(community: CommunityContext) -> Report:
    """Return the report of ``community``; equal communities give equal reports."""
    central = _most_connected(community)
    texts = [
        *(entity.description for entity in central),
        *(relationship.description for relationship in community.relationships),
        *(report.summary or report.content for report in community.sub_reports),
    ]
    sentences = distinct_sentences([without_references(text) for text in texts])
    rating = _rate(community)
    return Report(
        title=_title(community, central),
        summary=" ".join(best_sentences(sentences, _SUMMARY_SENTENCES)),
        findings=_find(community, central),
        rating=rating,
        rating_explanation=(
            f"Computed from the size of the community: {len(community.entities)} entities and "
            f"{len(community.relationships)} relationships."
        ),
    )


def _most_connected(community: CommunityContext) -> list[ContextEntity]:
    """Return the entities, those with most relationships within the community first."""
    degrees: Counter[str] = Counter()
    for relationship in community.relationships:
        degrees.update((relationship.source, relationship.target))
    return sorted(
        community.entities,
        key=lambda entity: (-degrees[entity.title], -entity.degree, entity.number),
    )


def _title(community: CommunityContext, central: Sequence[ContextEntity]) -> str:
    names = [entity.title for entity in central[:_IN_TITLE]]
    names = names or [report.title for report in community.sub_reports[:_IN_TITLE]]
    if len(names) < 2:
        return names[0] if names else "Empty community"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _rate(community: CommunityContext) -> float:
    """Return 0 to 10: each doubling of the entities or of the relationships adds one."""
    entities, relationships = len(community.entities), len(community.relationships)
    return min(10.0, round(math.log2(1 + entities) + math.log2(1 + relationships), 1))


def _find(community: CommunityContext, central: Sequence[ContextEntity]) -> tuple[Finding, ...]:
    """Return a finding for each of the central entities, each sentence in one of them only."""
    findings: list[Finding] = []
    said: set[str] = set()
    for entity in central:
        about = [
            each for each in community.relationships if entity.title in (each.source, each.target)
        ]
        finding = _finding(entity, about, said)
        if finding is not None:
            findings.append(finding)
        if len(findings) == _FINDINGS:
            break
    for report in community.sub_reports[: _FINDINGS - len(findings)]:
        quoted = distinct_sentences([without_references(report.summary or report.content)])
        explanation = " ".join(best_sentences(quoted, _QUOTES))
        if explanation:
            reference = cite([("Reports", report.number)])
            findings.append(Finding(summary=report.title, explanation=f"{explanation} {reference}"))
    return tuple(findings)


def _finding(
    entity: ContextEntity, about: Sequence[ContextRelationship], said: set[str]
) -> Finding | None:
    """Return what there is to quote of an entity that no other finding quoted yet."""
    origins: dict[str, list[tuple[str, int]]] = {}
    records = [
        (entity.description, ("Entities", entity.number)),
        *((each.description, ("Relationships", each.number)) for each in about),
    ]
    for text, record in records:
        for sentence in distinct_sentences([without_references(text)]):
            origins.setdefault(sentence, []).append(record)
    fresh = [sentence for sentence in origins if sentence_key(sentence) not in said]
    quoted = best_sentences(fresh, _QUOTES)
    if not quoted:
        return None
    said.update(sentence_key(sentence) for sentence in quoted)
    cited = [record for sentence in quoted for record in origins[sentence]]
    others = dict.fromkeys(
        each.target if each.source == entity.title else each.source for each in about
    )
    return Finding(
        summary=_headline(entity.title, list(others)),
        explanation=f"{' '.join(quoted)} {cite(cited)}",
    )


def _headline(title: str, others: Sequence[str]) -> str:
    if not others:
        return f"{title} stands alone."
    shown = [*others[:2], *([f"{len(others) - 2} more"] if len(others) > 2 else [])]
    joined = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{title} is mentioned together with {joined}."
