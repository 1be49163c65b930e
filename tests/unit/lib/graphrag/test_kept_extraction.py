"""An extraction that was read once."""

from __future__ import annotations

import json

import pytest

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.graphrag.kept_extraction import as_json, from_json

pytestmark = pytest.mark.unit


def test_what_was_kept_is_what_was_read() -> None:
    """Every record, reason and repair comes back as it was."""
    found = Extraction(
        entities=(Entity(title="Ann", type="person", description="runs Ørion"),),
        relationships=(Relationship(source="Ann", target="Orion", description="runs", weight=2.5),),
        dropped={"relationship without an end": 2},
        repairs={"missing field": 1},
    )

    assert from_json(json.loads(json.dumps(as_json(found)))) == found
