"""A model's report reply → a report."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("json_repair", reason="comes with the extra graphrag")

from holodeck.lib.contracts import ChatReply, Finding, Report
from holodeck.lib.graphrag.parse_report import about_report, json_object, parse_report

pytestmark = pytest.mark.unit

PLAIN = {
    "title": "T",
    "summary": "S",
    "rating": 7,
    "rating_explanation": "R",
    "findings": [{"summary": "f", "explanation": "e [Data: Entities (1, 2, +more)]"}],
}
GOOD = json.dumps(PLAIN)
REPORT = Report(
    title="T",
    summary="S",
    rating=7.0,
    rating_explanation="R",
    findings=(Finding(summary="f", explanation="e [Data: Entities (1, 2, +more)]"),),
)


def told(reply: str, finish_reason: str = "stop") -> str | None:
    """Return what the model is told of its reply."""
    complaint = about_report(ChatReply(text=reply, finish_reason=finish_reason))
    return None if complaint is None else complaint.told


@pytest.mark.parametrize(
    ("reply", "repairs"),
    [
        (GOOD, ()),
        (f"```json\n{GOOD}\n```", ("fence taken off",)),
        (f"Here it is:\n{GOOD}\nI hope it helps {{or not}}.", None),
        (f"<think>{{}}</think>{GOOD}", ("thoughts taken off",)),
        (GOOD.replace("}]", "},]"), ("JSON mended",)),
        (GOOD.replace('"R", ', '"R" '), ("JSON mended",)),
        (GOOD.replace("{", "{{").replace("}", "}}"), ("JSON mended",)),
        (f"[{GOOD}]", None),
        (GOOD.replace('"', "'"), ("JSON mended",)),
    ],
    ids=[
        "as asked",
        "fenced",
        "prose around it",
        "thoughts",
        "comma too many",
        "comma missing",
        "doubled braces",
        "in a list",
        "single quotes",
    ],
)
def test_drift_of_the_format_loses_nothing(reply: str, repairs: tuple[str, ...] | None) -> None:
    """However a real model dresses the JSON, the report is read, and what was mended is said."""
    assert told(reply) is None
    report = parse_report(reply)

    assert report == Report(**{**vars(REPORT), "repairs": report.repairs})
    assert repairs is None or report.repairs == repairs


def test_raw_line_ends_in_a_text_are_read() -> None:
    """A line end that JSON wants escaped is part of the text."""
    assert parse_report(GOOD.replace('"S"', '"S\n\nand more"')).summary == "S\n\nand more"


def test_more_inside_a_list_of_numbers_breaks_nothing() -> None:
    """The prompt's "+more" may slip out of the text into a list."""
    reply = GOOD.replace('"rating":', '"ids": [1, 2, +more], "rating":')

    assert told(reply) is None
    assert parse_report(reply).findings == REPORT.findings


@pytest.mark.parametrize(
    ("rating", "read"),
    [
        ("high", 7.5),
        ("8/10", 8.0),
        ("6,5", 6.5),
        ("who knows", 5.0),
        (None, 5.0),
        ([1], 5.0),
        (True, 5.0),
        (99, 10.0),
        (-1, 0.0),
        (3.5, 3.5),
    ],
)
def test_a_rating_of_the_wrong_type_is_read_as_what_it_says(rating: object, read: float) -> None:
    """A word or a fraction is a number; what says nothing is the middle; it stays from 0 to 10."""
    assert parse_report(json.dumps({**PLAIN, "rating": rating})).rating == read


@pytest.mark.parametrize(
    ("findings", "read"),
    [
        ("one string", [("one string", "")]),
        (["a", {"summary": "b"}], [("a", ""), ("b", "")]),
        ({"summary": "a", "explanation": "b"}, [("a", "b")]),
        ({"First": "a", "Second": ["b", "c"]}, [("First", "a"), ("Second", "b c")]),
        ([None, {}, 7], [("7", "")]),
        (None, []),
    ],
)
def test_findings_of_the_wrong_type_are_read_as_what_they_say(
    findings: object, read: list[tuple[str, str]]
) -> None:
    """A text, a list of texts or a mapping in place of the list of objects is not lost."""
    found = parse_report(json.dumps({**PLAIN, "findings": findings})).findings

    assert [(f.summary, f.explanation) for f in found] == read


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("The community is about trade.", "not a JSON object"),
        ("", "empty"),
        ("<think>{", "before your thoughts did"),
        (json.dumps({**PLAIN, "title": None}), "title must be text"),
        (json.dumps([{"summary": "f", "explanation": "e"}]), "title must be text"),
        (GOOD[: len(GOOD) // 2], "cut off"),
        ("{}", "title and summary"),
    ],
    ids=["prose", "empty", "thoughts", "null title", "only findings", "cut", "empty object"],
)
def test_what_is_no_report_is_complained_of(reply: str, complaint: str) -> None:
    """The model is told what was wrong in words that it can act on."""
    assert complaint in (told(reply) or "")


def test_a_cut_report_is_usable_when_it_is_no_better_the_second_time() -> None:
    """Its title, summary and whole findings are read."""
    complaint = about_report(ChatReply(text=GOOD[:-20], finish_reason="length"))

    assert complaint is not None
    assert complaint.is_usable
    assert parse_report(GOOD[:-20]).summary == "S"


@pytest.mark.parametrize("reply", ["no braces", "{", "}{", "{{{{", "[1, 2]", "{" * 5000])
def test_what_holds_no_object_is_none(reply: str) -> None:
    """Nothing is made up, and nothing raises."""
    assert json_object(reply) in (None, {})
