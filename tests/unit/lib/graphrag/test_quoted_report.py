"""The report of a small community: its records."""

from __future__ import annotations

import pytest

from holodeck.lib.contracts import (
    CommunityContext,
    ContextEntity,
    ContextRelationship,
    Finding,
)
from holodeck.lib.graphrag.quoted_report import quoted_report

pytestmark = pytest.mark.unit


def test_every_record_is_quoted_with_its_number() -> None:
    """Nothing that the records say is lost, and each statement can be opened."""
    report = quoted_report(
        CommunityContext(
            entities=(
                ContextEntity(number=1, title="Ann", description="a pilot"),
                ContextEntity(number=2, title="Orion", description=" "),
            ),
            relationships=(
                ContextRelationship(number=1, source="Ann", target="Orion", description="runs it"),
            ),
        )
    )

    assert report.title == "Ann, Orion"
    assert report.summary == "What the documents say of Ann, Orion."
    assert report.findings == (
        Finding(summary="Ann – Orion", explanation="runs it [Data: Relationships (1)]"),
        Finding(summary="Ann", explanation="a pilot [Data: Entities (1)]"),
    )
    assert report.rating == 1.0
