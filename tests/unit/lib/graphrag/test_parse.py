"""A model's extraction reply → records."""

from __future__ import annotations

import pytest

from holodeck.lib.contracts import Entity, Relationship
from holodeck.lib.graphrag.parse import parse_extraction

pytestmark = pytest.mark.unit

ACME = Entity(title="ACME", type="organization", description="makes anvils")
EMPLOYS = Relationship(source="ACME", target="BOB", description="employs", weight=9.0)


@pytest.mark.parametrize(
    "reply",
    [
        '("entity"<|>ACME<|>ORGANIZATION<|>makes anvils)\n##\n<|COMPLETE|>',
        '```\n("entity"<|>ACME<|>ORGANIZATION<|>makes anvils)<|COMPLETE|>\n```',
        '<think>("entity"<|>FAKE<|>P<|>x)</think>("entity"<|>ACME<|>ORGANIZATION<|>makes anvils)',
        'so FAKE it is </think>\n("entity"<|>ACME<|>ORGANIZATION<|>makes anvils)',
        '("entity"<||>ACME<||>ORGANIZATION<||>makes anvils)',
        '("entity" < | > ACME < | > ORGANIZATION < | > makes anvils)',
        '"entity"<|>ACME<|>ORGANIZATION<|>makes anvils',
        "(entity<|>ACME<|>ORGANIZATION<|>makes anvils)",
        '("entity"<|>"ACME"<|>"ORGANIZATION"<|>"makes anvils")##',
    ],
    ids=[
        "as asked",
        "fenced",
        "thoughts",
        "end of thoughts only",
        "double bar",
        "blanks in delimiters",
        "no brackets",
        "no quotes",
        "all quoted",
    ],
)
def test_drift_of_the_format_loses_nothing(reply: str) -> None:
    """However a real model dresses a record, the record is read."""
    assert parse_extraction(reply).entities == (ACME,)


@pytest.mark.parametrize(
    "weight", ["9", "9.0", "strength: 9", '"9"', "9/10", " 9 )"], ids=lambda w: w.strip()
)
def test_a_weight_is_the_first_number_of_the_last_field(weight: str) -> None:
    """Words around the number and the end marker behind it do not spoil it."""
    reply = f'("relationship"<|>ACME<|>BOB<|>employs<|>{weight})\n<|COMPLETE|>'

    assert parse_extraction(reply).relationships == (EMPLOYS,)


def test_a_relationship_without_a_number_weighs_one() -> None:
    """A missing weight keeps the description whole."""
    found = parse_extraction('("relationship"<|>ACME<|>BOB<|>employs)').relationships

    assert [(r.description, r.weight) for r in found] == [("employs", 1.0)]


def test_a_bracket_in_a_name_is_part_of_it() -> None:
    """Only the bracket that closes the record is taken off."""
    found = parse_extraction('("entity"<|>Clause (A)<|>CONCEPT<|>see (B))').entities

    assert [(e.title, e.description) for e in found] == [("Clause (A)", "see (B)")]


def test_a_bare_end_marker_says_that_there_is_nothing() -> None:
    """No records and nothing dropped."""
    assert parse_extraction("<|COMPLETE|>").dropped == {}


def test_what_cannot_be_used_is_counted_by_reason() -> None:
    """A record without a name, and one too short, are dropped with their reasons."""
    reply = '("entity"<|> <|>PERSON<|>nobody)##("relationship"<|>A<|>B)##("entity"<|>A<|>P<|>d)'
    found = parse_extraction(reply)

    assert [e.title for e in found.entities] == ["A"]
    assert found.dropped == {
        "entity without a name": 1,
        "relationship with too few fields": 1,
    }
