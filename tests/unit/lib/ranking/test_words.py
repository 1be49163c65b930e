"""Relevance by words: BM25 in memory, stems and the fusing of scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holodeck.lib.ranking.fuse import best_rows, fuse, standard_scores
from holodeck.lib.ranking.stems import stem
from holodeck.lib.ranking.words import WordIndex

pytestmark = pytest.mark.unit


def test_a_score_is_bm25() -> None:
    """One term in one of two texts of one length: rarity times (k1 + 1) / (1 + k1)."""
    scores = WordIndex.of(["red fox", "red owl"]).scores("fox?")

    assert scores == pytest.approx([math.log(1 + (2 - 1 + 0.5) / (1 + 0.5)), 0.0])


@pytest.mark.parametrize(
    ("question", "row"),
    [("Which places?", 0), ("the parties", 1), ("猎户座项目", 2), ("Café", 3), ("cafe", 3)],
)
def test_a_text_is_found_in_other_forms_and_scripts(question: str, row: int) -> None:
    """Plurals, accents and scripts without blanks do not hide a word."""
    index = WordIndex.of(["a place", "a party", "谁领导了猎户座项目", "the café"])

    assert int(index.scores(question).argmax()) == row
    assert index.scores(question)[row] > 0


@pytest.mark.parametrize(
    "forms",
    [
        ("place", "places"),
        ("party", "parties"),
        ("ship", "ships", "shipped", "shipping"),
        ("race", "races", "raced", "racing"),
        ("glacier", "glaciers"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    """The commonest English endings fold away."""
    assert len(set(map(stem, forms))) == 1


@pytest.mark.parametrize("word", ["ice", "bus", "glass", "seed", "1912", "猎户", "ng"])
def test_a_stem_keeps_what_is_no_ending(word: str) -> None:
    """Short words, figures and other scripts stay whole, and no stem is empty."""
    assert stem(word) == word


def test_no_text_and_no_known_word_give_no_score() -> None:
    """Nothing is found in nothing, and an unknown word finds nothing."""
    assert WordIndex.of([]).scores("fox").shape == (0,)
    assert not WordIndex.of(["red fox", ""]).scores("zebra").any()


def test_equal_scores_say_nothing() -> None:
    """A side on which all are equal leaves the ranking to the other."""
    other = np.array([1.0, 2.0, 6.0])

    assert not standard_scores(np.full(3, 0.1 + 0.2)).any()
    assert fuse(np.full(3, 7.0), other) == pytest.approx(standard_scores(other))


@pytest.mark.parametrize("count", range(7))
def test_the_best_rows_are_those_of_a_full_sort(count: int) -> None:
    """The quick way gives what the slow way gives; equal scores by row."""
    scores = np.array([3.0, 5.0, 3.0, 1.0, 3.0])
    slow = sorted(range(5), key=lambda row: (-scores[row], row))[:count]

    assert best_rows(scores, count).tolist() == slow


@pytest.mark.parametrize("count", [1, 7, 200, 2_000, 30_000])
@pytest.mark.parametrize("kind", ["all different", "mostly equal", "few values", "all equal"])
def test_the_best_rows_of_many_are_those_of_a_full_sort(kind: str, count: int) -> None:
    """However the scores are spread; nothing is decided by the sample that is looked at first."""
    chance = np.random.default_rng(7)
    scores = {
        "all different": chance.standard_normal(20_000),
        "mostly equal": np.where(chance.random(20_000) < 0.005, chance.random(20_000), 0.0),
        "few values": chance.integers(0, 3, 20_000).astype(float),
        "all equal": np.ones(20_000),
    }[kind]
    slow = np.lexsort((np.arange(20_000), -scores))[:count]

    assert best_rows(scores, count).tolist() == slow.tolist()
