"""Numbers of things in words."""

from __future__ import annotations

import pytest

from holodeck.lib.quantities import counts_in_words, number_of


@pytest.mark.parametrize(
    ("count", "plural", "said"),
    [
        (1, "entities", "1 entity"),
        (1, "text_units", "1 text unit"),
        (0, "files", "0 files"),
        (12_345, "calls", "12,345 calls"),
        ("1", "calls", "1 call"),
        ("1 to 3", "calls", "1 to 3 calls"),
    ],
)
def test_exactly_one_thing_is_said_in_the_singular(
    count: int | str, plural: str, said: str
) -> None:
    """One thing is singular, every other number and every range is not."""
    assert number_of(count, plural) == said


def test_the_counts_of_an_index_read_as_a_list() -> None:
    """Names of columns become words, in their order."""
    assert counts_in_words({"files": 4, "communities": 1}) == "4 files, 1 community"
