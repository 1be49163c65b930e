"""An extraction as JSON: what was read in replies, kept beside them so that it is read once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holodeck.lib.contracts import Entity, Extraction, Relationship

__all__ = ["as_json", "from_json"]


def as_json(found: Extraction) -> dict[str, Any]:  # Any: JSON
    """Return what ``from_json`` reads; why a pass failed is no part of it."""
    return {
        "entities": [[each.title, each.type, each.description] for each in found.entities],
        "relationships": [
            [each.source, each.target, each.description, each.weight]
            for each in found.relationships
        ],
        "dropped": dict(found.dropped),
        "repairs": dict(found.repairs),
    }


def from_json(content: Mapping[str, Any]) -> Extraction:
    """Return the extraction."""
    return Extraction(
        entities=tuple(
            Entity(title=title, type=kind, description=description)
            for title, kind, description in content["entities"]
        ),
        relationships=tuple(
            Relationship(source=source, target=target, description=description, weight=weight)
            for source, target, description, weight in content["relationships"]
        ),
        dropped=content["dropped"],
        repairs=content["repairs"],
    )
