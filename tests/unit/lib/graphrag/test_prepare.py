"""Documents → documents, text units and places."""

from __future__ import annotations

import pytest

from holodeck.lib.documents import Document, Place
from holodeck.lib.graphrag.prepare import prepare

pytestmark = pytest.mark.unit


def document(path: str, text: str, page: int | None = None) -> Document:
    return Document(place=Place(path=path, page=page), text=text)


def test_equal_texts_are_one_text_unit_with_all_their_places() -> None:
    """A copied file is stored once and cited at every place."""
    prepared = prepare(
        [document("b.txt", "Ann runs Orion."), document("a.txt", "Ann runs Orion.")], 50, 0
    )

    assert len(prepared.documents) == 1
    assert [unit.places for unit in prepared.text_units] == [
        (Place(path="a.txt"), Place(path="b.txt"))
    ]


def test_a_rename_changes_places_and_nothing_else() -> None:
    """Ids and order come from content alone."""
    texts = ["Ann runs Orion.", "Bob runs Vega.", "Cara runs Altair."]
    before = prepare([document(f"{n}.txt", text) for n, text in enumerate(texts)], 50, 0)
    after = prepare([document(f"{9 - n}.txt", text) for n, text in enumerate(texts)], 50, 0)

    assert [u.id for u in before.text_units] == [u.id for u in after.text_units]
    assert before.units_of == after.units_of


def test_a_documents_text_units_are_in_reading_order() -> None:
    """The units of a document join to it, whatever order the table has."""
    text = " ".join(f"word{n}" for n in range(400))
    prepared = prepare([document("a.txt", text)], 50, 0)
    texts = {unit.id: unit.text for unit in prepared.text_units}

    assert "".join(texts[key] for key in prepared.units_of[prepared.documents[0][0].id]) == text


def test_pages_are_kept() -> None:
    """The place of a text unit names the page."""
    prepared = prepare([document("a.pdf", "one", page=1), document("a.pdf", "two", page=2)], 50, 0)

    assert {str(unit.places[0]) for unit in prepared.text_units} == {
        "a.pdf, page 1",
        "a.pdf, page 2",
    }
