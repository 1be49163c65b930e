"""What a chunk says, by rules: entities and relationships."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.providers.extractive.extract import build_extraction, name_pairs, read_by_rules

pytestmark = pytest.mark.unit


def extract(text: str, *entity_types: str) -> Extraction:
    """Return what the rules read from ``text``."""
    return build_extraction(read_by_rules(text), entity_types)


def test_an_extraction_quotes_its_chunk() -> None:
    """Names of one sentence are related; every description is a sentence of the chunk."""
    said = "Captain Robert Scott sailed to Antarctica."

    assert extract(f"{said} The weather was bad.") == Extraction(
        entities=(
            Entity(title="Captain Robert Scott", type="person", description=said),
            Entity(title="Antarctica", type="location", description=said),
        ),
        relationships=(
            Relationship(
                source="Antarctica", target="Captain Robert Scott", description=said, weight=1.0
            ),
        ),
    )


def test_the_same_pair_again_adds_to_one_relationship() -> None:
    """Two names that meet in several sentences have one relationship, heavier for each."""
    extraction = extract("Zelda met Quentin. Then Quentin paid Zelda. Zelda thanked Quentin.")

    assert [(each.source, each.target, each.weight) for each in extraction.relationships] == [
        ("Quentin", "Zelda", 3.0)
    ]
    assert extraction.relationships[0].description == (
        "Zelda met Quentin. Then Quentin paid Zelda. Zelda thanked Quentin."
    )


def test_without_a_verb_the_ends_are_in_alphabetical_order() -> None:
    """Chunks that have two names in different order give the same relationship."""
    for text in ("They say Zelda met Quentin.", "They say Quentin met Zelda."):
        (relationship,) = extract(text).relationships

        assert (relationship.source, relationship.target) == ("Quentin", "Zelda")


def test_spellings_of_one_name_are_one_entity() -> None:
    """Case and dots do not make another entity; the spelling in running text is its title."""
    extraction = extract("TERRA NOVA\n\nThe Terra Nova left Cardiff. The terra nova sank.")

    assert [entity.title for entity in extraction.entities] == ["Terra Nova", "Cardiff"]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Dr. Ada Wong came. Wong spoke.", ["Dr. Ada Wong"]),
        ("Dr. Ada Wong met Dr. Bo Wong. Wong spoke.", ["Dr. Ada Wong", "Dr. Bo Wong", "Wong"]),
        ("Lake Como is deep. Como is a town.", ["Lake Como", "Como"]),
        ("The Bishop of Rome, who left Rome, died.", ["Bishop of Rome", "Rome"]),
    ],
)
def test_a_last_name_stands_for_a_person_if_there_is_only_one(text: str, titles: list[str]) -> None:
    """A last name is that of the one person so named; places and namesakes stay apart."""
    assert [entity.title for entity in extract(text).entities] == titles


def test_the_sentence_that_introduces_a_name_comes_first() -> None:
    """A description begins with the sentence that says what the name is."""
    entities = extract("Nobody liked Zork. The Zork is a small beast. They hunt Zork.").entities

    assert [entity.description for entity in entities] == [
        "The Zork is a small beast. Nobody liked Zork. They hunt Zork."
    ]


def test_a_pronoun_carries_the_subject_on() -> None:
    """A sentence that begins with a fitting pronoun speaks of the sentence before's subject."""
    linked = extract("Acme Corporation grew. It bought Zorkon. He met Quentin.")
    other = extract("Mr. Bo Ash left. It bought Zorkon.")

    assert [(each.source, each.target) for each in linked.relationships] == [
        ("Acme Corporation", "Zorkon")
    ]
    assert other.relationships == ()


@pytest.mark.parametrize(
    ("entity_types", "expected"),
    [
        ((), {"Dr. Ada Wong": "person", "Acme Corporation": "organization", "Zorkon": "concept"}),
        (
            ("Person", "concept"),
            {"Dr. Ada Wong": "Person", "Acme Corporation": "concept", "Zorkon": "concept"},
        ),
        (("ship",), {"Dr. Ada Wong": "", "Acme Corporation": "", "Zorkon": ""}),
    ],
)
def test_types_are_the_configured_ones(
    entity_types: tuple[str, ...], expected: dict[str, str]
) -> None:
    """A type that is not configured is never given; its spelling is the configured one."""
    entities = extract("Dr. Ada Wong left Acme Corporation for Zorkon.", *entity_types).entities

    assert {entity.title: entity.type for entity in entities} == expected


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("University of Oxford", "organization"),
        ("Battle of Hastings", "event"),
        ("Bay of Biscay", "location"),
        ("Lake Huron", "location"),
        ("New York", "location"),
        ("J. R. R. Tolkien", "person"),
        ("Ludwig van Beethoven", "person"),
        ("Winston Zorkel", "person"),
    ],
)
def test_a_telling_word_gives_the_type(name: str, kind: str) -> None:
    """The head of a name, a title, initials or a given name tell its type."""
    assert [entity.type for entity in extract(f"They saw {name} again.").entities] == [kind]


def test_long_lists_do_not_explode() -> None:
    """A list of names relates its neighbours, not every pair; a short one relates all."""
    names = [f"Zor{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]

    assert len(list(name_pairs(names))) == 59
    assert list(name_pairs(names[:4])) == [
        (names[left], names[left + distance])
        for distance in (1, 2, 3)
        for left in range(4 - distance)
    ]


def test_a_chinese_chunk_gives_searchable_names() -> None:
    """Entities of a text without capitals keep its script and are related."""
    extraction = extract("张伟领导了猎户座项目。")

    assert [entity.title for entity in extraction.entities] == ["张伟", "猎户座项目"]
    assert [(each.source, each.target) for each in extraction.relationships] == [
        ("张伟", "猎户座项目")
    ]


PIECES = st.sampled_from(
    [
        *["Dr. Wu", "the", "Bank of", "U.S.", "“The Sea”", "He", "met", ".", "\n", "’s", "1912"],
        *[
            "李雷领导了项目",
            "アインシュタイン",
            "삼성전자는",
            "القاهرة",
            "May",
            "#",
            "(",
            "-",
            "I.",
        ],
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=30).map(" ".join)))
def test_any_text_gives_a_consistent_extraction(text: str) -> None:
    """Any text gives distinct named entities, and relationships between two different of them."""
    extraction = extract(text)
    titles = Counter(entity.title for entity in extraction.entities)

    assert set(titles.values()) <= {1}
    assert all(entity.title.strip() and entity.description for entity in extraction.entities)
    assert all(
        each.source in titles and each.target in titles and each.source != each.target
        for each in extraction.relationships
    )
    pairs = Counter(frozenset((each.source, each.target)) for each in extraction.relationships)
    assert set(pairs.values()) <= {1}
    assert extract(text) == extraction
