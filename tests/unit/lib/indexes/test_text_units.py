"""Equal texts are stored once and keep all their places."""

from __future__ import annotations

from pathlib import Path

from holodeck.lib.documents import Document, Place
from holodeck.lib.indexes.step_memo import StepMemo
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


def test_texts_are_cut_where_they_were_cut_before(tmp_path: Path) -> None:
    """What is remembered is what is found: equal results, also for a new text beside old ones."""
    old = [document("a.txt", "one two three four five six " * 9), document("b.txt", "seven")]
    new = [*old, document("c.txt", "eight nine ten eleven " * 9)]
    memo = StepMemo(None, "8 2")
    first = prepare(old, 8, 2, memo=memo)
    memo.write(tmp_path / "cuts")

    again = prepare(new, 8, 2, memo=StepMemo(tmp_path / "cuts", "8 2"))

    assert first == prepare(old, 8, 2)
    assert again == prepare(new, 8, 2)


def test_a_text_that_is_remembered_is_not_cut_again() -> None:
    """The cut that is known counts; a text that is not known by its content is cut."""
    known, other = document("a.txt", "one two three"), document("b.txt", "one two four")
    memo = StepMemo()
    memo.put(f"cuts:{known.id}", [[0, 0, 3, 1]])

    texts = {unit.text for unit in prepare([known, other], 8, 0, memo=memo).text_units}

    assert texts == {"one", "one two four"}
