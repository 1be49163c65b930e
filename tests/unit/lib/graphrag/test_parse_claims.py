"""A model's claims reply → claims."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.contracts import Claim
from holodeck.lib.graphrag.parse_claims import ClaimReader

pytestmark = pytest.mark.unit

FRAUD = Claim(
    subject="ACME",
    object="BOB",
    type="FRAUD",
    status="TRUE",
    start_date="2022-01-10",
    end_date="2022-01-10",
    description="ACME cheated (twice)",
    source_text="cheated",
)
BODY = "ACME<|>BOB<|>FRAUD<|>TRUE<|>2022-01-10<|>2022-01-10<|>ACME cheated (twice)<|>cheated"
RECORD = f"({BODY})"
OTHER = "(EVE<|>NONE<|>THEFT<|>**SUSPECTED**<|>NONE<|>NONE<|>stole<|>q)"


@pytest.mark.parametrize(
    "reply",
    [
        f"{RECORD}\n##\n<|COMPLETE|>",
        f"```\n{RECORD}\n```",
        f"<think>{OTHER}</think>{RECORD}",
        f"- {RECORD}",
        f"1. {BODY}",
        BODY,
        f"**{RECORD}**",
        f"({RECORD})",
        "{{" + BODY + "}}",
        RECORD.replace("<|>", "<||>"),
        RECORD.replace("<|>", "＜｜＞"),
        RECORD.replace("ACME<", '"ACME"<'),
        RECORD.replace("(ACME<", '("claim"<|>ACME<'),
        RECORD.replace("ACME cheated (twice)", "ACME cheated\n(twice)"),
        f"Here it is:\n{RECORD}\nThat is all.",
    ],
)
def test_drift_of_the_format_loses_nothing(reply: str) -> None:
    """However a model dresses a claim, the claim is read."""
    parsed = ClaimReader().read(reply)

    assert parsed.found.claims == (FRAUD,)
    assert (parsed.seen, parsed.dropped) == (1, {})


def test_a_bracket_that_a_name_begins_with_is_part_of_it() -> None:
    """Only the bracket that opens the record is taken off."""
    reply = RECORD.replace("ACME<", "[X] ACME<") + "\n" + RECORD.replace("ACME<", "(old) ACME<")
    claims = ClaimReader().read(reply).found.claims

    assert [claim.subject for claim in claims] == ["[X] ACME", "(old) ACME"]


@pytest.mark.parametrize("between", ["", "##", "\n", "\n##\n", " ", "\n- "])
def test_claims_need_no_separator(between: str) -> None:
    """Two claims in a row are two; emphasis is no part of a status."""
    claims = ClaimReader().read(RECORD + between + OTHER).found.claims

    assert [(claim.subject, claim.status) for claim in claims] == [
        ("ACME", "TRUE"),
        ("EVE", "SUSPECTED"),
    ]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("(NONE<|>B<|>T<|>TRUE<|>d<|>d<|>text<|>q)", "without a name"),
        ("(...<|>B<|>T<|>TRUE<|>d<|>d<|>text<|>q)", "with a name of punctuation only"),
        ("(EVE<|>B<|>T<|>TRUE<|>d<|>d<|>NONE<|>q)", "without a description"),
        ("(EVE<|>B<|>T<|>TRUE)", "without a description"),
        ("(ZED<|>B<|>T<|>TRUE<|>d<|>d<|>text<|>q)", "that repeats an example of the prompt"),
    ],
)
def test_what_cannot_be_used_is_dropped_with_its_reason(record: str, reason: str) -> None:
    """Only the bad record is lost, and it is counted."""
    reader = ClaimReader("as in\n(ZED<|>B<|>T<|>TRUE<|>d<|>d<|>an example<|>q)")
    parsed = reader.read(f"{RECORD}\n##\n{record}\n##\n{OTHER}", "ACME and EVE")

    assert [claim.subject for claim in parsed.found.claims] == ["ACME", "EVE"]
    assert parsed.dropped == {f"claim {reason}": 1}
    assert parsed.seen == 3


def test_a_claim_in_which_a_reply_breaks_off_is_dropped() -> None:
    """Half of a claim is none."""
    parsed = ClaimReader().read(f"{RECORD}\n##\n(EVE<|>B<|>T<|>TRUE<|>d<|>d<|>she st")

    assert parsed.is_cut
    assert parsed.dropped == {"claim cut off in the middle": 1}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([RECORD, OTHER, "<|>", "(", ")", "##", "\n", "x", "<|COMPLETE|>"])))
def test_no_reply_raises_and_no_claim_vanishes(pieces: list[str]) -> None:
    """Whatever a model writes: claims and dropped records are those that begin in the reply."""
    parsed = ClaimReader(OTHER).read("".join(pieces))

    assert len(parsed.found.claims) + sum(parsed.dropped.values()) == parsed.seen


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["ACME", "[X] ACME", "ACME (US)", "(old) ACME", "A-B", "", "x) y", '"Q"']
            ),
            st.text(alphabet="Aa9 ().,[]", max_size=12),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_as_many_claims_are_seen_as_were_written(written: list[tuple[str, str]]) -> None:
    """Whatever their fields hold; the count does not come from the parser."""
    records = [f"({name}<|>B<|>T<|>TRUE<|>d<|>d<|>{text}<|>q)" for name, text in written]

    assert ClaimReader().read("\n##\n".join(records) + "<|COMPLETE|>").seen == len(written)
