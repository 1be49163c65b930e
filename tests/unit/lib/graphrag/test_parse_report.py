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
        (f"I will {{as asked}} use {{}} and {{'a': 1}}:\n{GOOD}", ("prose taken off",)),
        (f"{GOOD}\n{GOOD.replace('T', 'X')}", ("prose taken off",)),
        (json.dumps({"report": PLAIN}), ("taken out of another object",)),
        (json.dumps({key.upper(): value for key, value in PLAIN.items()}), ()),
        (json.dumps({key.replace("_", " ").title(): v for key, v in PLAIN.items()}), ()),
        (json.dumps(GOOD), ("escapes resolved",)),
        (GOOD.replace('"', "“"), ("JSON mended",)),
        (GOOD.replace('"rating":', '// as said\n"rating":'), ("JSON mended",)),
        (
            GOOD.replace('"summary": "S"', '"executive_summary": "S"').replace(
                '"findings"', '"detailed_findings"'
            ),
            (),
        ),
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
        "braces in the prose",
        "two objects",
        "in another object",
        "keys in capitals",
        "keys as titles",
        "as a string",
        "curly quotes",
        "with a remark",
        "keys of the prompt's prose",
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
        ([1], 1.0),
        ([], 5.0),
        ({"score": 8, "of": 10}, 8.0),
        (True, 5.0),
        (85, 8.5),
        ("85/100", 8.5),
        ("8 out of 10", 8.0),
        (".5", 0.5),
        (999, 10.0),
        ("9" * 400, 10.0),
        (float("nan"), 5.0),
        (float("inf"), 5.0),
        ("Very High", 9.0),
        ("High impact", 7.5),
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
        ([{"title": "a", "description": "b"}], [("a", "b")]),
        ([{"Summary": "a", "Explanation": "b"}], [("a", "b")]),
        ([[{"summary": "a", "explanation": "b"}]], [("a", "b")]),
        ([{"what": "a", "why": "b"}], [("a b", "")]),
        ('[{"summary": "a", "explanation": "b"}]', [("a", "b")]),
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
        (json.dumps({**PLAIN, "title": "<report_title>"}), "title must be text"),
        (json.dumps([{"summary": "f", "explanation": "e"}]), "title must be text"),
        (GOOD[: len(GOOD) // 2], "cut off"),
        ("{}", "title and summary"),
    ],
    ids=[
        "prose",
        "empty",
        "thoughts",
        "null title",
        "the prompt's pattern",
        "only findings",
        "cut",
        "empty object",
    ],
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
