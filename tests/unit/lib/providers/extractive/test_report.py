"""Community reports made of quotes."""

from __future__ import annotations

import pytest

from holodeck.lib.contracts import (
    CommunityContext,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    Finding,
    Report,
)
from holodeck.lib.providers.extractive.report import write_report

pytestmark = pytest.mark.unit

COMMUNITY = CommunityContext(
    entities=(
        ContextEntity(number=1, title="Cardiff", description="Cardiff is a port."),
        ContextEntity(number=2, title="Zork", description="Zork is a whaling ship."),
        ContextEntity(number=3, title="Quentin", description="Quentin kept bees."),
    ),
    relationships=(
        ContextRelationship(
            number=1, source="Zork", target="Cardiff", description="Zork left Cardiff in June."
        ),
        ContextRelationship(
            number=2, source="Quentin", target="Zork", description="Quentin steered Zork."
        ),
    ),
)


def test_a_report_quotes_and_cites_its_records() -> None:
    """Title and order follow the relationships, findings quote records, each sentence once."""
    report = write_report(COMMUNITY)

    assert report.title == "Zork, Cardiff and Quentin"
    assert report.findings == (
        Finding(
            summary="Zork is mentioned together with Cardiff and Quentin.",
            explanation=(
                "Zork is a whaling ship. Zork left Cardiff in June. Quentin steered Zork. "
                "[Data: Entities (2); Relationships (1, 2)]"
            ),
        ),
        Finding(
            summary="Cardiff is mentioned together with Zork.",
            explanation="Cardiff is a port. [Data: Entities (1)]",
        ),
        Finding(
            summary="Quentin is mentioned together with Zork.",
            explanation="Quentin kept bees. [Data: Entities (3)]",
        ),
    )


def test_the_summary_is_two_sentences_of_the_community() -> None:
    """Every sentence of the summary stands in a description."""
    said = {entity.description for entity in COMMUNITY.entities}
    said |= {relationship.description for relationship in COMMUNITY.relationships}
    sentences = write_report(COMMUNITY).summary.split(". ")

    assert len(sentences) == 2
    assert {sentence.rstrip(".") + "." for sentence in sentences} <= said


def test_the_rating_is_computed_and_says_so() -> None:
    """3 entities and 2 relationships: log2(4) + log2(3) = 3.6; a huge community rates 10."""
    report = write_report(COMMUNITY)
    huge = write_report(
        CommunityContext(
            entities=tuple(
                ContextEntity(number=number, title=f"E{number}", description="")
                for number in range(1, 2000)
            ),
            relationships=(),
        )
    )

    assert report.rating == 3.6
    assert report.rating_explanation == (
        "Computed from the size of the community: 3 entities and 2 relationships."
    )
    assert huge.rating == 10.0
    assert len(huge.findings) == 0


def test_a_community_of_communities_is_told_by_their_reports() -> None:
    """Without entities of its own the report quotes the sub-reports and cites them."""
    report = write_report(
        CommunityContext(
            entities=(),
            relationships=(),
            sub_reports=(
                ContextReport(
                    number=4, title="Ships", content="", summary="Zork sank [Data: Entities (9)]."
                ),
            ),
        )
    )

    assert (report.title, report.summary) == ("Ships", "Zork sank.")
    assert report.findings == (
        Finding(summary="Ships", explanation="Zork sank. [Data: Reports (4)]"),
    )


def test_an_empty_community_has_a_report() -> None:
    """Nothing in gives a report without findings, rated 0."""
    assert write_report(CommunityContext(entities=(), relationships=())) == Report(
        title="Empty community",
        summary="",
        rating=0.0,
        rating_explanation=(
            "Computed from the size of the community: 0 entities and 0 relationships."
        ),
    )
