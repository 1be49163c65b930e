"""Equal texts are stored once and keep all their places."""

from __future__ import annotations

from holodeck.lib.documents import Document, Place
from holodeck.lib.indexes.text_units import prepare


def document(path: str, text: str, **place: int) -> Document:
    return Document(place=Place(path=path, **place), text=text)


def test_equal_texts_are_one_unit_with_every_place() -> None:
    """A copy, a page and a row of the same text are one unit that names all three."""
    prepared = prepare(
        [
            document("b.txt", "Ann runs Orion."),
            document("a.csv", "Ann runs Orion.", row=2),
            document("a.pdf", "Ann runs Orion.", page=3),
            document("c.txt", "Bob runs Vega."),
        ],
        100,
        0,
    )

    assert {unit.text: [str(place) for place in unit.places] for unit in prepared.text_units} == {
        "Ann runs Orion.": ["a.csv, row 2", "a.pdf, page 3", "b.txt"],
        "Bob runs Vega.": ["c.txt"],
    }
    assert len(prepared.documents) == 2


def test_order_of_files_decides_nothing() -> None:
    """The same documents in another order give the same units in the same order."""
    documents = [document(f"{name}.txt", f"text of {name % 3}") for name in range(6)]

    assert prepare(documents, 100, 0) == prepare(documents[::-1], 100, 0)
