"""Extractions → one graph."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.graphrag.merge import merge
from holodeck.lib.graphrag.names import name_key, tidy_name

pytestmark = pytest.mark.unit


def entity(title: str, description: str = "", kind: str = "organization") -> Entity:
    return Entity(title=title, type=kind, description=description)


def says(*entities: Entity, edges: tuple[Relationship, ...] = ()) -> Extraction:
    return Extraction(entities=entities, relationships=edges)


@pytest.mark.parametrize(
    "spelling",
    ['"Acme Corp"', "Acme  Corp", "ACME CORP.", "Acme Corp", "acme corp,", "«Acme Corp»"],
)
def test_trivial_variants_of_a_name_are_one_entity(spelling: str) -> None:
    """Case, blanks, quotes, width and trailing marks do not make another entity."""
    assert name_key(spelling) == "acme corp"


def test_an_escaped_name_is_its_plain_form() -> None:
    """HTML escapes are resolved; the characters stay."""
    assert tidy_name("R&amp;D") == "R&D"


def test_a_name_with_two_types_keeps_both_facts() -> None:
    """One name is one entity, whatever type each text unit gives it; no description is lost."""
    graph = merge(
        [
            ("u1", says(entity("IBM", "makes mainframes"))),
            ("u2", says(entity("IBM", "bought Red Hat", "company"))),
        ]
    )

    assert [(e.title, e.descriptions, e.text_unit_ids) for e in graph.entities] == [
        ("IBM", ("makes mainframes", "bought Red Hat"), ("u1", "u2"))
    ]


def test_the_most_frequent_spelling_is_shown_and_merges_are_counted() -> None:
    """The title is the spelling met most often; each other spelling counts as one merge."""
    graph = merge(
        [
            ("u1", says(entity("ACME CORP."))),
            ("u2", says(entity("Acme Corp"))),
            ("u3", says(entity("Acme Corp"))),
        ]
    )

    assert [e.title for e in graph.entities] == ["Acme Corp"]
    assert graph.merged_spellings == 1


def test_an_entity_keeps_its_id_whatever_else_is_said() -> None:
    """An id comes from the name alone."""
    alone = merge([("u1", says(entity("Vega")))])
    among = merge([("u0", says(entity("Altair"))), ("u1", says(entity("VEGA", "a star")))])

    assert alone.entities[0].id in {e.id for e in among.entities}


def test_relationships_of_a_pair_are_one_with_the_sum_of_weights() -> None:
    """Equal directed pairs join over text units: weights add up, descriptions are kept."""
    edges = [
        Relationship(source="Ann", target="Orion", description="runs", weight=2),
        Relationship(source="ANN", target="Orion", description="founded", weight=3),
    ]
    graph = merge([("u1", says(edges=(edges[0],))), ("u2", says(edges=(edges[1],)))])

    assert [(e.weight, e.descriptions, e.text_unit_ids) for e in graph.relationships] == [
        (5, ("runs", "founded"), ("u1", "u2"))
    ]


def test_an_end_that_no_record_describes_is_an_entity() -> None:
    """A relationship never points at nothing; its description describes the missing end."""
    edge = Relationship(source="Ann", target="Orion", description="Ann runs Orion")
    graph = merge([("u1", says(entity("Ann", "a person", "person"), edges=(edge,)))])

    assert {e.title: e.descriptions for e in graph.entities} == {
        "Ann": ("a person",),
        "Orion": ("Ann runs Orion",),
    }


def test_a_relationship_with_itself_is_dropped_and_counted() -> None:
    """A self-loop says nothing of the graph; it is counted, never lost in silence."""
    edge = Relationship(source="Ann", target="ANN", description="is herself")
    graph = merge([("u1", says(entity("Ann"), edges=(edge,)))])

    assert graph.relationships == ()
    assert graph.dropped == {"relationship of an entity with itself": 1}


def test_the_order_of_records_does_not_depend_on_where_they_were_met() -> None:
    """Entities and relationships are ordered by id."""
    first = ("u1", says(entity("Ann")))
    second = ("u2", says(entity("Bob")))

    assert [e.title for e in merge([first, second]).entities] == [
        e.title for e in merge([second, first]).entities
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"Acme Corp".', "Acme Corp"),
        ("Ｒ＆Ｄ", "R&amp;amp;D"),
        ("Cafe\u0301", "CAFÉ"),
        ("Marley’s Ghost", "MARLEY'S GHOST"),
        ("co\u2011op", "co-op"),
        ("Zero\u200bWidth\ufeff", "ZeroWidth"),
        ("{{Orion}}", "orion"),
        ("STRASSE", "Straße"),
        ("ΟΔΟΣ", "οδος"),
        ("IRMAK", "ırmak"),
        ("İSTANBUL", "istanbul"),
        ("**Acme**", "acme"),
        ('"{ACME}"', "Acme"),
        ("[[Acme]]", "Acme"),
        ("\u200fشركة\u200f", "شركة"),
        ("\u202eAcme\u202c", "Acme"),
        ("Ac\x00me", "Acme"),
        ("❤\ufe0f", "❤"),
        ("1990–1995", "1990-1995"),
        ("Oʼ Brien", "O' Brien"),
        ("《红楼梦》", "红楼梦。"),
        ("Yahoo!", "Yahoo"),
    ],
)
def test_what_copying_and_typing_vary_is_one_name(one: str, other: str) -> None:
    """Marks around it, width, composition, apostrophes, hyphens and escapes fold away."""
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IBM", "International Business Machines"),
        ("R&D", "RD"),
        ("C", "C++"),
        ("C", "C#"),
        ("NET", ".NET"),
        ("A", "A*"),
        ("A+", "A-"),
        ("US", "U.S."),
    ],
)
def test_real_aliases_stay_apart(one: str, other: str) -> None:
    """Only the form of a name is folded, never its letters."""
    assert name_key(one) != name_key(other)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="aAİıßςe'\"*[]{}<>&;. !\u200b\u0307\u0300-", max_size=12))
def test_the_key_of_a_key_is_the_key(text: str) -> None:
    """However a name is dressed, what is shown of it and what is folded of it are the same name."""
    name = f"x{text}"

    assert name_key(name_key(name)) == name_key(name)
    assert tidy_name(tidy_name(name)) == tidy_name(name)
    assert name_key(tidy_name(name)) == name_key(name)


def test_joiners_that_a_script_spells_with_stay() -> None:
    """A non-joiner is a letter of Persian, not a stray mark."""
    assert tidy_name("می\u200cخواهم") == "می\u200cخواهم"


def test_an_entity_remembers_every_spelling_and_type() -> None:
    """What is not shown is kept, with how often it was met."""
    graph = merge(
        [
            ("u1", says(entity("IBM", kind="company"))),
            ("u2", says(entity("Ibm"), entity("IBM"))),
        ]
    )

    (ibm,) = graph.entities
    assert (ibm.spellings, ibm.types) == (
        {"IBM": 2, "Ibm": 1},
        {"company": 1, "organization": 2},
    )
    assert (ibm.title, ibm.type) == ("IBM", "organization")


def test_an_end_of_a_self_loop_is_an_entity() -> None:
    """A relationship with itself connects nothing, and still names something."""
    edge = Relationship(source="Ann", target="ANN", description="is herself")
    graph = merge([("u1", says(edges=(edge,)))])

    assert [(e.title, e.descriptions) for e in graph.entities] == [("Ann", ("is herself",))]
    assert graph.records == 1
