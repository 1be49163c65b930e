"""How a text is cut into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.providers.extractive.sentences import (
    LONGEST_SENTENCE,
    prose_share,
    split_sentences,
)

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Wu met Prof. J. R. Ito. They left.", ["Dr. Wu met Prof. J. R. Ito.", "They left."]),
        ("The U.S. Navy sailed. It won.", ["The U.S. Navy sailed.", "It won."]),
        ("He moved to the U.S. The war began.", ["He moved to the U.S.", "The war began."]),
        ("It costs 3.5 dollars. See no. 7 of it.", ["It costs 3.5 dollars.", "See no. 7 of it."]),
        ("He said no. Nobody came.", ["He said no.", "Nobody came."]),
        ("Apple Inc. Ships phones.", ["Apple Inc. Ships phones."]),
        ("Apple Inc. The firm grew.", ["Apple Inc.", "The firm grew."]),
        ("“Stop!” he cried. “Go on. Run.”", ["“Stop!” he cried.", "“Go on.", "Run.”"]),
        ("猎户座项目开始了。谁领导它？李雷。", ["猎户座项目开始了。", "谁领导它？", "李雷。"]),
        ("# The Voyage\nThe ship left. It sank.", ["The Voyage", "The ship left.", "It sank."]),
        ("A wrapped\nsentence goes\non here.", ["A wrapped sentence goes on here."]),
        ("Intro text:\n- first item\n- second", ["Intro text:", "first item", "second"]),
        ("Short title\n\nBody of it.", ["Short title", "Body of it."]),
        ("Really?! Yes… Maybe.", ["Really?!", "Yes…", "Maybe."]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_a_sentence_ends_where_a_reader_ends_it(text: str, sentences: list[str]) -> None:
    """Abbreviations, initials, numbers and quotes do not end a sentence; stops of any script do."""
    assert split_sentences(text) == sentences


def test_text_without_stops_is_cut_at_a_bound() -> None:
    """A sentence is never longer than the bound, and cut between words where there are any."""
    sentences = split_sentences("word, " * 500)

    assert max(map(len, sentences)) <= LONGEST_SENTENCE
    assert " ".join(sentences).split() == ["word,"] * 500


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=2000))
def test_no_letter_or_digit_is_lost(text: str) -> None:
    """The letters and digits of the sentences are those of the text, in order."""

    def characters(text: str) -> str:
        return "".join(character for character in text if character.isalnum())

    sentences = split_sentences(text)

    assert characters("".join(sentences)) == characters(text)
    assert all(sentence == sentence.strip() and sentence for sentence in sentences)


def test_the_fields_of_a_record_are_one_sentence() -> None:
    """A record reads as one line with its fields apart, and does not run into what follows."""
    record = "name: Fram\nbuilt: 1892\nfate: preserved in Oslo"

    assert split_sentences(f"{record}\n\nShe was strong.") == [
        "name: Fram; built: 1892; fate: preserved in Oslo.",
        "She was strong.",
    ]


def test_a_heading_before_a_record_is_a_line_of_its_own() -> None:
    """What has no full stop does not run into the fields on the next line."""
    assert split_sentences("The Fram, 1892 to 1935\nname: Fram; built: 1892.") == [
        "The Fram, 1892 to 1935",
        "name: Fram; built: 1892.",
    ]


def test_a_record_after_a_sentence_is_a_sentence_of_its_own() -> None:
    """Field names are often in lower case: they begin a record all the same."""
    assert split_sentences("She was strong. name: Fram; built: 1892.") == [
        "She was strong.",
        "name: Fram; built: 1892.",
    ]


def test_a_line_with_a_colon_is_prose() -> None:
    """One field alone, or a sentence with a colon in it, is no record."""
    assert split_sentences("He had one rule: never stop.\nIt served him well.") == [
        "He had one rule: never stop.",
        "It served him well.",
    ]


def test_prose_reads_better_than_headings_and_records() -> None:
    """A whole sentence comes first, then a fragment, then the fields of a record."""
    sentences = ["Fram was built.", "The Fram", "was built there.", "name: Fram; built: 1892."]

    assert [prose_share(sentence) for sentence in sentences] == [1.0, 0.6, 0.6, 0.2]
