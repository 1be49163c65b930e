"""Several descriptions made into one, and references to records."""

from __future__ import annotations

import pytest

from holodeck.lib.providers.extractive.cite import cite, without_references
from holodeck.lib.providers.extractive.describe import summarize

pytestmark = pytest.mark.unit


def test_a_summary_says_nothing_twice_and_names_its_subject_first() -> None:
    """Copies are dropped, sentences that name the subject come first, the rest in order."""
    descriptions = [
        "It sank in May.",
        "The Zork was a ship.",
        "The ZORK was a ship! It sank in May.",
    ]

    assert summarize("Zork", descriptions) == "The Zork was a ship. It sank in May."


def test_a_summary_is_three_sentences_at_most() -> None:
    """Of many sentences the three that the others resemble most are kept, in their order."""
    descriptions = [
        "Zork carries red coal.",
        "Zork carries coal and iron.",
        "Zork carries iron plates.",
        "Zork sleeps.",
        "Quentin painted a picture.",
    ]

    assert summarize("Zork", descriptions) == (
        "Zork carries red coal. Zork carries coal and iron. Zork carries iron plates."
    )


@pytest.mark.parametrize("descriptions", [[], ["", " \n"], ["..."]])
def test_nothing_said_gives_an_empty_summary(descriptions: list[str]) -> None:
    """No text gives an empty summary, not an error and not an invention."""
    assert summarize("Zork", descriptions) == ""


def test_a_reference_groups_records_and_is_bounded() -> None:
    """Numbers are grouped by table, sorted, without copies, and cut after five."""
    assert cite([("Sources", 7), ("Entities", 2), ("Sources", 3), ("Sources", 7)]) == (
        "[Data: Sources (3, 7); Entities (2)]"
    )
    assert cite([("Reports", number) for number in range(9)]) == (
        "[Data: Reports (0, 1, 2, 3, 4, +more)]"
    )


def test_foreign_references_are_taken_out() -> None:
    """A quoted text loses the references whose numbers meant something else."""
    assert without_references(
        "Zork sank [Data: Entities (1, +more); Reports (2)]. It was old."
    ) == ("Zork sank. It was old.")
