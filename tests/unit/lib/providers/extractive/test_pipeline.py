"""Verbs that a parse puts between two names."""

from __future__ import annotations

import pytest

from holodeck.lib.providers.extractive.extract import ReadSentence, build_extraction
from holodeck.lib.providers.extractive.names import Mention
from holodeck.lib.providers.extractive.pipeline import verbs_between

pytestmark = pytest.mark.unit


def test_a_verb_links_its_subject_to_its_objects() -> None:
    """Objects are linked directly and through a preposition; the link runs from the subject."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    from spacy.tokens import Doc

    words = ["Zelda", "sold", "Zork", "to", "Quentin", "."]
    document = Doc(
        spacy.blank("en").vocab,
        words=words,
        heads=[1, 1, 1, 1, 3, 1],
        deps=["nsubj", "ROOT", "dobj", "prep", "pobj", "punct"],
        pos=["PROPN", "VERB", "PROPN", "ADP", "PROPN", "PUNCT"],
    )
    text = document.text
    mentions = [
        Mention(name=name, start=text.index(name), end=text.index(name) + len(name))
        for name in ("Zelda", "Zork", "Quentin")
    ]

    assert dict(verbs_between(document, mentions)) == {(0, 1): "sold", (0, 2): "sold"}
    assert dict(verbs_between(spacy.blank("en")(text), mentions)) == {}


def test_in_the_passive_the_doer_comes_first() -> None:
    """What "by" names did it, and is the source of the link."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    from spacy.tokens import Doc

    document = Doc(
        spacy.blank("en").vocab,
        words=["Zork", "was", "sold", "by", "Zelda", "."],
        heads=[2, 2, 2, 2, 3, 2],
        deps=["nsubjpass", "auxpass", "ROOT", "agent", "pobj", "punct"],
        pos=["PROPN", "AUX", "VERB", "ADP", "PROPN", "PUNCT"],
    )
    mentions = [Mention(name="Zork", start=0, end=4), Mention(name="Zelda", start=17, end=22)]

    assert dict(verbs_between(document, mentions)) == {(1, 0): "sold"}


def test_a_verb_makes_the_relationship_heavier_and_is_named() -> None:
    """A pair with a verb counts twice and its description begins with who did it to whom."""
    text = "Zork was sold by Zelda."
    mentions = [Mention(name="Zork", start=0, end=4), Mention(name="Zelda", start=17, end=22)]
    sentence = ReadSentence(text=text, mentions=mentions, verbs={(1, 0): "sold"})
    (relationship,) = build_extraction([sentence]).relationships

    assert (relationship.source, relationship.target) == ("Zelda", "Zork")
    assert relationship.description == "Zelda – sold – Zork: Zork was sold by Zelda."
    assert relationship.weight == 2.0
