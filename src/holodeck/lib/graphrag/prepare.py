"""Documents → the tables that a build starts from: documents, text units and their places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holodeck.lib.graphrag.tables import write_rows
from holodeck.lib.indexes.text_units import Prepared, TextUnit, prepare

__all__ = ["Prepared", "TextUnit", "prepare", "write_prepared"]


def write_prepared(prepared: Prepared, folder: Path) -> None:
    """Write ``documents``, ``text_units`` and ``sources``; the graph's ids come later."""
    write_rows(folder, "documents", _document_rows(prepared))
    write_rows(folder, "text_units", _text_unit_rows(prepared.text_units))
    write_rows(
        folder,
        "sources",
        [
            {"text_unit_id": unit.id, "path": place.path, "page": place.page, "row": place.row}
            for unit in prepared.text_units
            for place in unit.places
        ],
    )


def _document_rows(prepared: Prepared) -> list[dict[str, Any]]:
    return [
        {
            "id": document.id,
            "human_readable_id": number,
            "title": str(places[0]),
            "text": document.text,
            "text_unit_ids": list(prepared.units_of[document.id]),
            "creation_date": "",
            "raw_data": None,
        }
        for number, (document, places) in enumerate(prepared.documents)
    ]


def _text_unit_rows(units: Sequence[TextUnit]) -> list[dict[str, Any]]:
    return [
        {
            "id": unit.id,
            "human_readable_id": number,
            "text": unit.text,
            "n_tokens": unit.n_tokens,
            "document_id": unit.document_id,
            "entity_ids": [],
            "relationship_ids": [],
            "covariate_ids": [],
        }
        for number, unit in enumerate(units)
    ]
