"""Many texts in two arrays."""

from __future__ import annotations

import numpy as np
import pytest

from holodeck.lib.indexes.texts import Finder, Texts

pytestmark = pytest.mark.unit

TEXTS = ["plain", "", "谁领导了猎户座项目", "🚀\n", "plain", "مشروع"]


def test_texts_come_back_as_they_were() -> None:
    """Any script, empty ones, the last as the first; what is outside raises."""
    texts = Texts.of(TEXTS)

    assert list(texts) == TEXTS
    assert texts[-1] == TEXTS[-1]
    assert texts[1:4] == TEXTS[1:4]
    assert texts.sizes.tolist() == [len(text.encode()) for text in TEXTS]
    with pytest.raises(IndexError):
        texts[len(TEXTS)]
    assert list(Texts.of([])) == []


def test_all_rows_of_a_text_are_found() -> None:
    """Equal texts are all found, in order; an unknown one is not."""
    finder = Finder.of(TEXTS)

    assert finder.find(["plain", "🚀\n", "unknown", ""]) == [[0, 4], [3], [], [1]]
    assert finder.find([]) == []
    assert Finder.of([]).find(["x"]) == [[]]


def test_a_text_of_an_equal_hash_is_not_taken_for_another() -> None:
    """The hash only leads there; the text decides."""
    finder = Finder(["other"], Finder.of(["plain"]).marks, np.array([0]))

    assert finder.find(["plain"]) == [[]]
