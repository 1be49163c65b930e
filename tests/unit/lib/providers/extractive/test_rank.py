"""Which sentences matter, and which terms they are compared by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.providers.extractive.rank import inverse_frequencies, jaccard, pick, text_rank
from holodeck.lib.providers.extractive.words import content_terms

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Who led the EXPEDITIONS?", ["led", "expedition"]),
        ("He stopped; companies are stopping.", ["stop", "company", "stop"]),
        ("Scott's ship, Scott’s crew", ["scott", "ship", "scott", "crew"]),
        ("谁领导了", ["谁领", "领导", "导了"]),
        ("猫 in 1912", ["猫", "1912"]),
        ("ﬁsh Ｆish", ["fish", "fish"]),
        ("Über straße", ["über", "strass"]),
        ("...", []),
    ],
)
def test_terms_are_what_spellings_have_in_common(text: str, terms: list[str]) -> None:
    """Case, endings, width and stop words are put aside; unspaced scripts are cut into pairs."""
    assert content_terms(text) == terms


def test_a_rare_term_weighs_more() -> None:
    """A term in one of two texts weighs ln 3, a term in both ln 2."""
    assert inverse_frequencies([["a", "a"], ["a", "b"]]) == {"a": math.log(2), "b": math.log(3)}


def test_the_sentence_that_others_resemble_is_central() -> None:
    """A sentence that shares terms with both others ranks above them; equals rank equally."""
    ranks = text_rank([["a", "x"], ["a", "b"], ["b", "y"]])

    assert ranks[1] > ranks[0] == ranks[2]
    assert ranks.sum() == pytest.approx(1)


def test_picking_leaves_out_what_was_said() -> None:
    """The best comes first; a copy of it is left out, a likeness loses to a fresh sentence."""
    terms = [{"a", "b"}, {"a", "b"}, {"a", "b", "c"}, {"d"}]
    chosen = pick([0.9, 0.9, 0.8, 0.7], 4, lambda i, j: jaccard(terms[i], terms[j]))

    # 2 shares two of three terms with 0: 0.8 - 0.3 * 2/3 = 0.6 < 0.7
    assert chosen == [0, 3, 2]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=8))
def test_ranks_are_numbers_that_sum_to_one(sentences: list[list[str]]) -> None:
    """Any sentences, empty ones too, get finite ranks that sum to 1."""
    ranks = text_rank(sentences)

    assert len(ranks) == len(sentences)
    assert not sentences or ranks.sum() == pytest.approx(1, abs=1e-6)
