"""A model's extraction reply → records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.graphrag.parse import RecordReader, parse_extraction
from holodeck.lib.replies.reply_text import read_answer

pytestmark = pytest.mark.unit

ACME = Entity(title="ACME", type="organization", description="makes anvils")
EMPLOYS = Relationship(source="ACME", target="BOB", description="employs", weight=9.0)
END = "<|COMPLETE|>"
ACME_RECORD = '("entity"<|>ACME<|>ORGANIZATION<|>makes anvils)'
EMPLOYS_RECORD = '("relationship"<|>ACME<|>BOB<|>employs<|>9)'


@pytest.mark.parametrize(
    "reply",
    [
        f"{ACME_RECORD}\n##\n<|COMPLETE|>",
        f"```\n{ACME_RECORD}<|COMPLETE|>\n```",
        f"```text {ACME_RECORD}```",
        f'<think>("entity"<|>FAKE<|>P<|>x)</think>{ACME_RECORD}',
        f'<reasoning>\n("entity"<|>FAKE<|>P<|>x)\n</reasoning>\n{ACME_RECORD}',
        f"so FAKE it is </think>\n{ACME_RECORD}",
        f'("entity"<|>FAKE<|>P<|>x)\n</think>{ACME_RECORD}',
        '("entity"<||>ACME<||>ORGANIZATION<||>makes anvils)',
        '("entity" < | > ACME < | > ORGANIZATION < | > makes anvils)',
        '("entity"&lt;|&gt;ACME&lt;|&gt;ORGANIZATION&lt;|&gt;makes anvils)',
        '("entity"|ACME|ORGANIZATION|makes anvils)',
        '("entity"<|ACME<|ORGANIZATION<|makes anvils)',
        '"entity"<|>ACME<|>ORGANIZATION<|>makes anvils',
        "entity<|>ACME<|>ORGANIZATION<|>makes anvils",
        "(entity<|>ACME<|>ORGANIZATION<|>makes anvils)",
        "- (entity<|>ACME<|>ORGANIZATION<|>makes anvils)",
        '("entity"<|>ACME<|>ORGANIZATION<|>makes anvils\n<|COMPLETE|>',
        '("entity"<|>"ACME"<|>"ORGANIZATION"<|>"makes anvils")##',
        "(“entity”<|>“ACME”<|>“ORGANIZATION”<|>“makes anvils”)",
        '("entity"\n<|>ACME\n<|>ORGANIZATION\n<|>makes\nanvils)',
        '{{"entity"<|>{{ACME}}<|>ORGANIZATION<|>makes anvils}}',
        '["entity"<|>ACME<|>ORGANIZATION<|>makes anvils]',
        '(\\"entity\\"<|>ACME<|>ORGANIZATION<|>makes anvils)',
        f"Here is what I found:\n{ACME_RECORD}\n\nI hope this helps!",
        f"{ACME_RECORD}\n<|COMPLETE|>\nThat is all (really).",
        f"{ACME_RECORD} < | COMPLETE | >",
        f"{ACME_RECORD}\nCOMPLETE",
        f"{ACME_RECORD}＜｜COMPLETE｜＞",
        "（＂entity＂＜｜＞ACME＜｜＞ORGANIZATION＜｜＞makes anvils）\n##",
        "(«entity»<|>«ACME»<|>ORGANIZATION<|>makes anvils)",
        "(&quot;entity&quot;&lt;|&gt;ACME&lt;|&gt;ORGANIZATION&lt;|&gt;makes anvils)",
        '("\u200bentity\ufeff"<|\u200b>ACME<|>ORGANIZATION<|>makes anvils)',
        f"\ufeff{ACME_RECORD}\r\n##\r\n<|COMPLETE|>\r\n",
        f"{ACME_RECORD}\u2028##",
        "**" + ACME_RECORD.replace("ACME", "**ACME**").replace("entity", "ENTITY") + "**",
        f"`{ACME_RECORD}`<br>",
        f"<answer>{ACME_RECORD}</answer>",
        f"{ACME_RECORD} // the firm",
        ACME_RECORD.replace("<|>", "<|||>"),
        ACME_RECORD.replace("<|>", "<|tuple_delimiter|>"),
        ACME_RECORD.replace("entity", "entities"),
        '("entity": ACME<|>ORGANIZATION<|>makes anvils)',
        f"{ACME_RECORD}\\n##\\n<|COMPLETE|>",
        json.dumps(f"{ACME_RECORD}\n##\n<|COMPLETE|>"),
        json.dumps({"output": f"{ACME_RECORD}\n##\n<|COMPLETE|>"}),
        f"{ACME_RECORD}<|im_end|>",
        '("entity", "ACME", "ORGANIZATION", "makes anvils")\n<|COMPLETE|>',
        '[["entity", "ACME", "ORGANIZATION", "makes anvils"]]',
        '("entity"\tACME\tORGANIZATION\tmakes anvils)',
        "| entity | name | type |\n|---|---|---|\n| entity | ACME | ORGANIZATION | makes anvils |",
        '{"entities": [{"entity_name": "ACME", "entity_type": "organization",'
        ' "entity_description": "makes anvils"}], "relationships": []}',
    ],
    ids=[
        "as asked",
        "fenced",
        "fenced on one line",
        "thoughts",
        "thoughts by another name",
        "end of thoughts only",
        "end of thoughts only, with a record in them",
        "double bar",
        "blanks in delimiters",
        "escaped delimiters",
        "bars for delimiters",
        "half delimiters",
        "no brackets",
        "no brackets, no quotes",
        "no quotes",
        "a list",
        "never closed",
        "all quoted",
        "curly quotes",
        "over several lines",
        "doubled braces",
        "square brackets",
        "escaped quotes",
        "prose around it",
        "prose after the end",
        "blanks in the end marker",
        "end marker without marks",
        "wide end marker",
        "all wide",
        "angle quotes",
        "escaped quotes and delimiters",
        "marks without width",
        "line ends of Windows",
        "line ends of Unicode",
        "bold",
        "code and a break",
        "in tags",
        "a remark",
        "three bars",
        "the delimiter's own name",
        "plural",
        "a colon",
        "escaped line ends",
        "a JSON string",
        "a string in JSON",
        "a mark of the chat format",
        "a tuple with commas",
        "lists in JSON",
        "tabs",
        "a table",
        "objects in JSON",
    ],
)
def test_drift_of_the_format_loses_nothing(reply: str) -> None:
    """However a real model dresses a record, the record is read."""
    (found,) = RecordReader(entity_types=["organization"]).read(reply).extraction.entities

    assert found == ACME


@pytest.mark.parametrize(
    "thoughts",
    [
        "<think>{}</think>",
        "<seed:think>{}</seed:think>",
        '<thinking kind="short">{}</thinking>\n',
        "<analysis>\n{}\n</analysis>\n",
        "[THINK]{}[/THINK]",
        "◁think▷{}◁/think▷",
        "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>",
        "<unused94>thought\n{}<unused95>",
        "<think>{0}</think>\n<think>and {0}</think>",
        "<think>a <think>{}</think> b</think>\n",
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    ],
)
def test_thoughts_of_every_model_are_taken_off(thoughts: str) -> None:
    """A record that was only thought of is none, however a model marks its thoughts."""
    reply = thoughts.format('("entity"<|>FAKE<|>person<|>x)') + ACME_RECORD

    assert parse_extraction(reply).entities == (ACME,)


@pytest.mark.parametrize("reply", ["<|channel|>analysis<|message|>hm", "[THINK]hm"])
def test_thoughts_without_an_answer_are_unfinished(reply: str) -> None:
    """What was never concluded is no answer."""
    assert read_answer(reply).is_unfinished
    assert read_answer(reply).text == ""


def test_bare_records_on_lines_of_their_own_are_several() -> None:
    """Without brackets a record ends where the next line begins one, list marks or not."""
    plain = "entity<|>ACME<|>ORGANIZATION<|>makes anvils\nrelationship<|>ACME<|>BOB<|>employs<|>9"
    listed = "1. " + plain.replace("\n", "\n2. ")

    for reply in (plain, listed):
        found = parse_extraction(reply)
        assert (found.entities, found.relationships) == ((ACME,), (EMPLOYS,))


def test_records_behind_the_end_marker_are_read() -> None:
    """Some models write the marker between their entities and their relationships."""
    found = parse_extraction(f"{ACME_RECORD}\n<|COMPLETE|>\n{EMPLOYS_RECORD}\n<|COMPLETE|>")

    assert (found.entities, found.relationships) == ((ACME,), (EMPLOYS,))


def test_a_text_that_the_model_goes_on_to_make_up_is_no_source() -> None:
    """What follows the end marker and a heading of the prompt is dropped and counted."""
    reader = RecordReader("-Real Data-\nText: {input_text}\n######\nOutput:")
    more = f'{ACME_RECORD}<|COMPLETE|>\nText: Zed left.\n######\nOutput:\n("entity"<|>Zed<|>p<|>d)'
    parsed = reader.read(more)

    assert parsed.extraction.entities == (ACME,)
    assert parsed.extraction.dropped == {"record of a text that the model made up after its end": 1}
    assert parsed.seen == 2


@pytest.mark.parametrize(
    ("reply", "dropped"),
    [
        ("(ACME<|>ORGANIZATION<|>makes anvils)\n(ACME<|>BOB<|>employs<|>9)", 0),
        ('("ACME"<|>"organization"<|>"makes anvils")##("ACME"<|>"BOB"<|>"employs"<|>9)', 0),
        (
            '("实体"<|>ACME<|>organization<|>makes anvils)##("关系"<|>ACME<|>BOB<|>employs<|>9)',
            0,
        ),
        ("(ACME<|>ORGANIZATION<|>makes anvils)\n(ACME<|>BOB<|>employs<|>9)\n(red<|>x<|>y)", 1),
        ("((ACME<|>ORGANIZATION<|>makes anvils))\n{{ACME<|>BOB<|>employs<|>9}}", 0),
    ],
)
def test_a_record_without_its_kind_is_known_by_its_fields(reply: str, dropped: int) -> None:
    """One of the types that were asked for makes an entity, a number at the end a relationship."""
    parsed = RecordReader(entity_types=["organization"]).read(reply)
    found = parsed.extraction

    assert (found.entities, found.relationships) == ((ACME,), (EMPLOYS,))
    assert sum(found.dropped.values()) == dropped
    assert parsed.seen == 2 + dropped


def test_a_name_in_brackets_begins_no_record_of_its_own() -> None:
    """A record without its kind may begin with a bracket that is its name's."""
    reader = RecordReader(entity_types=["organization"])
    found = reader.read("([X] ACME<|>organization<|>d)\n((old) ACME<|>organization<|>d)").extraction

    assert [each.title for each in found.entities] == ["[X] ACME", "(old) ACME"]


def test_labels_of_the_prompts_pattern_are_no_part_of_a_field() -> None:
    """A model that repeats what a field is called is understood."""
    pattern = '("entity"<|><entity_name><|><entity_type><|><entity_description>)'
    reply = '("entity"<|>entity_name: ACME<|>entity_type: organization<|>makes anvils)'

    assert RecordReader(pattern).read(reply).extraction.entities == (ACME,)


def test_a_name_of_the_prompts_example_needs_the_text_to_hold_it() -> None:
    """Whatever is said of an example, it is no fact, and no relationship leads to it."""
    reader = RecordReader('("entity"<|>ZED<|>PERSON<|>An example)')
    reply = '("entity"<|>Zed<|>person<|>leads)##("relationship"<|>ACME<|>ZED<|>pays<|>2)'

    assert reader.read(reply, "ACME makes anvils").extraction == Extraction(
        dropped={"example of the prompt repeated": 2}, repairs={}
    )
    assert reader.read(reply, "Ms. Zed of ACME").extraction.dropped == {}


def test_a_relation_is_a_relationship() -> None:
    """Some models shorten the word."""
    found = parse_extraction(EMPLOYS_RECORD.replace("relationship", "relation"))

    assert found.relationships == (EMPLOYS,)


@pytest.mark.parametrize("between", ["", " ", "##", "\n##\n##\n", ", ", "\n- ", "\n\n**##**\n"])
def test_records_need_no_separator(between: str) -> None:
    """Two records in a row are two, whatever stands between them."""
    found = parse_extraction(ACME_RECORD + between + EMPLOYS_RECORD)

    assert (found.entities, found.relationships) == ((ACME,), (EMPLOYS,))


@pytest.mark.parametrize(
    "weight",
    [
        "9",
        "9.0",
        "strength: 9",
        '"9"',
        "9/10",
        "9 out of 10",
        " 9 )",
        "**9**",
        "(9)",
        "9.",
        "high (9)",
        "9 (strong)",
        "9 (on a scale of 1 to 10)",
        "9-10",
        "9 or 10",
        "９",
        "９/10",
        "+9",
        "90%",
        "0.9e1",
        "weight: 9, confidence: 0.8",
        "score=9 because of 1999",
    ],
    ids=lambda w: w.strip(),
)
def test_a_weight_is_the_number_of_the_last_field(weight: str) -> None:
    """Words around the number and the end marker behind it do not spoil it."""
    reply = f'("relationship"<|>ACME<|>BOB<|>employs<|>{weight})\n<|COMPLETE|>'

    assert parse_extraction(reply).relationships == (EMPLOYS,)


@pytest.mark.parametrize(
    ("fields", "description", "weight"),
    [
        ("employs", "employs", 1.0),
        ("employs<|>since 1999 and will go on to do so for a long time", None, 1.0),
        ("employs<|>work, pay<|>9", "employs work, pay", 9.0),
        ("employs<|>9<|>note", "employs note", 9.0),
        ("9", "", 9.0),
        ("employs<|>-3", "employs", 1.0),
        ("employs<|>0", "employs", 1.0),
        ("employs<|>.9", "employs", 0.9),
        ("employs<|>0,5", "employs", 0.5),
        ("employs<|>nan", "employs", 1.0),
        ("employs<|>inf", "employs", 1.0),
        ("employs<|>N/A", "employs", 1.0),
        ("employs<|>1e309", "employs 1e309", 1.0),
        ("founded<|>in 1999", "founded in 1999", 1.0),
        ("employs<|>9<|>1999", "employs 1999", 9.0),
        ("employs<|>100000", "employs", 100.0),
        (f"employs<|>{'9' * 400}", None, 1.0),
    ],
)
def test_fields_too_many_or_too_few_leave_a_relationship_usable(
    fields: str, description: str | None, weight: float
) -> None:
    """A missing weight is 1, one out of range is brought into it, further fields are text."""
    (edge,) = parse_extraction(f'("relationship"<|>ACME<|>BOB<|>{fields})').relationships

    assert edge.weight == weight
    assert edge.description == (fields.replace("<|>", " ") if description is None else description)


def test_a_missing_type_leaves_the_description() -> None:
    """A long third field is what is said of the thing, a short one is its type."""
    long = '("entity"<|>ACME<|>makes anvils for coyotes and delivers them by mail)'
    short = '("entity"<|>ACME<|>organization)'

    assert parse_extraction(long).entities[0].type == ""
    assert "coyotes" in parse_extraction(long).entities[0].description
    assert parse_extraction(short).entities[0].type == "organization"


def test_a_delimiter_inside_a_name_moves_the_type() -> None:
    """Where a later field is one of the types that were asked for, the name goes up to it."""
    reader = RecordReader(entity_types=["organization"])
    found = reader.read('("entity"<|>A<|>B Inc<|>Organization<|>sells<|>things)').extraction

    assert found.entities == (
        Entity(title="A B Inc", type="organization", description="sells things"),
    )


def test_a_type_in_the_place_of_the_kind_is_an_entity_of_it() -> None:
    """A record that begins with one of the types that were asked for is read."""
    reader = RecordReader(entity_types=["organization"])
    found = reader.read('("Organization"<|>ACME<|>makes anvils)##("colour"<|>red<|>x)').extraction

    assert found.entities == (ACME,)
    assert found.dropped == {"record of an unknown kind": 1}


def test_a_delimiter_of_the_document_comes_back() -> None:
    """What was changed in the prompt, so that it divides nothing, is stored as it was."""
    found = parse_extraction('("entity"<|>The <¦> operator<|>concept<|>see <¦COMPLETE¦>)')

    assert found.entities[0].title == "The <|> operator"
    assert found.entities[0].description == "see <|COMPLETE|>"


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("Clause (A)", "see (B)"),
        ("Clause (A)", "a list: 1) one 2) two"),
        ("Item a)", "closes what was not opened"),
        ("ACME", "a smile :) and on"),
        ("ACME", "first (line)\nsecond line"),
    ],
)
def test_a_bracket_in_a_field_is_part_of_it(name: str, description: str) -> None:
    """Only the bracket that closes the record is taken off."""
    reply = f'("entity"<|>{name}<|>CONCEPT<|>{description})\n##\n{ACME_RECORD}'
    found = parse_extraction(reply).entities

    assert [(e.title, e.description) for e in found] == [
        (name, " ".join(description.split())),
        ("ACME", "makes anvils"),
    ]


@pytest.mark.parametrize("word", ["entity", "Legal entity", "identity", "relationship"])
def test_a_field_that_is_named_like_a_record_begins_none(word: str) -> None:
    """A record begins at the start of a line, a bracket or a quote, never after a delimiter."""
    reply = (
        f'("entity"<|>{word}<|>{word}<|>{word} of things)##("relationship"<|>{word}<|>B<|>d<|>2)'
    )
    found = parse_extraction(reply)

    assert [(e.title, e.type) for e in found.entities] == [(word, word.casefold())]
    assert [(r.source, r.target) for r in found.relationships] == [(word, "B")]


def test_thoughts_that_the_text_is_about_are_text() -> None:
    """A tag inside a record is a word of the document."""
    reply = f'{ACME_RECORD}\n("entity"<|>Tag<|>CONCEPT<|>the </think> tag ends a <think> part)'
    quoted = f'{ACME_RECORD}\n("entity"<|>Tag<|>CONCEPT<|>it ends with "</think>" or </think>\n)'

    assert [e.title for e in parse_extraction(reply).entities] == ["ACME", "Tag"]
    assert [e.title for e in parse_extraction(quoted).entities] == ["ACME", "Tag"]


def test_a_bare_end_marker_says_that_there_is_nothing() -> None:
    """No records and nothing dropped."""
    assert parse_extraction("<|COMPLETE|>") == Extraction()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ('("entity"<|> <|>PERSON<|>nobody)', "entity without a name"),
        ('("entity"<|>...<|>PERSON<|>dots)', "entity with a name of punctuation only"),
        ('("entity"<|>NONE<|>PERSON<|>none)', "entity with a name that stands for none"),
        ('("entity"<|>ACME)', "entity with too few fields"),
        (
            f'("entity"<|>{"long " * 50}<|>PERSON<|>d)',
            "entity with a name of over 200 characters",
        ),
        (
            '("entity"<|><entity_name><|>PERSON<|>d)',
            "entity with a name of the prompt's pattern",
        ),
        ('("entity"<|>ZED<|>PERSON<|>An example)', "example of the prompt repeated"),
        ('("relationship"<|>A<|>B)', "relationship with too few fields"),
        ('("relationship"<|>A<|><|>d<|>1)', "relationship without an end"),
        ('("relationship"<|>A<|>null<|>d<|>1)', "relationship with a name that stands for none"),
    ],
)
def test_what_cannot_be_used_is_dropped_with_its_reason(record: str, reason: str) -> None:
    """Only the bad record is lost, and it is counted."""
    prompt = (
        'Format: ("entity"<|><entity_name><|><entity_type><|><entity_description>)\n'
        'Output:\n("entity"<|>ZED<|>PERSON<|>An example)\n##\n'
    )
    parsed = RecordReader(prompt).read(f"{ACME_RECORD}##{record}##{EMPLOYS_RECORD}")

    assert parsed.extraction.entities == (ACME,)
    assert parsed.extraction.relationships == (EMPLOYS,)
    assert parsed.extraction.dropped == {reason: 1}
    assert parsed.seen == 3


def test_the_examples_of_the_installed_prompt_are_known() -> None:
    """They are read from the prompt itself; echoed word for word they are all dropped."""
    pytest.importorskip("graphrag", reason="needs the extra graphrag")
    from holodeck.lib.graphrag.prompts import INDEX_PROMPTS, read_prompts

    prompt = read_prompts(INDEX_PROMPTS)["extract"]
    examples = re.findall(r"^\(\"(?:entity|relationship)\".*\)$", prompt, flags=re.MULTILINE)
    found = RecordReader(prompt).read("\n##\n".join([*examples, ACME_RECORD])).extraction

    assert len(examples) > 10
    assert (found.entities, found.relationships) == ((ACME,), ())
    assert found.dropped == {"example of the prompt repeated": len(examples)}


def test_what_was_mended_is_counted() -> None:
    """A reply as it was asked for needs no mending; another says what it needed."""
    asked = f"{ACME_RECORD}\n##\n{EMPLOYS_RECORD}\n<|COMPLETE|>"
    drifted = '```\nentity<||>ACME<||>x<||>d\n("relationship"<|>A<|>B<|>d<|>strength: 2)\n```'

    assert parse_extraction(asked).repairs == {}
    assert parse_extraction(drifted).repairs == {
        "fence taken off": 1,
        "missing bracket": 1,
        "missing quotes": 1,
        "number among words": 1,
        "odd delimiter": 1,
    }


REPLIES = [
    f"{ACME_RECORD}\n##\n{EMPLOYS_RECORD}\n<|COMPLETE|>",
    '("entity"<|>"Scrooge"<|>"person"<|>"He is (very) mean.")##\n## \n'
    '("relationship"<|>"Scrooge"<|>"Marley\'s Ghost"<|>"haunts him"<|>10)<|COMPLETE|>',
    f"<think>is it {ACME_RECORD}?</think>\n```\n{ACME_RECORD}\n{EMPLOYS_RECORD}\n```",
    "- entity<||>ACME<||>organization<||>makes anvils\n- relationship<||>A<||>B<||>d<||>high: 8",
]
PIECES = [
    "<|>", "<||>", "< | >", "|", "##", "(", ")", '"', "\n", "<|COMPLETE|>", "<think>", "</think>",
    "```", "{{", "}}", "entity", '("entity"', "relationship", "NONE", "\x00", "\u2028", "9" * 50,
]  # fmt: skip


@st.composite
def mutated_replies(draw: st.DrawFn) -> str:
    """Return a reply that was cut, spliced, doubled and spoiled at random."""
    text = draw(st.sampled_from(REPLIES))
    for _ in range(draw(st.integers(min_value=0, max_value=6))):
        at = draw(st.integers(min_value=0, max_value=len(text)))
        to = draw(st.integers(min_value=at, max_value=min(len(text), at + 40)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=5), st.just(text[at:to])))
        text = text[:at] + piece + text[draw(st.sampled_from([at, to])) :]
    return text


@settings(max_examples=300, deadline=None)
@given(mutated_replies())
def test_no_reply_raises_and_no_record_vanishes(reply: str) -> None:
    """Whatever a model writes: parsed and dropped records are those that begin in the reply."""
    parsed = RecordReader(REPLIES[0], ["person"]).read(reply)
    found = parsed.extraction

    kept = len(found.entities) + len(found.relationships)
    assert kept + sum(found.dropped.values()) == parsed.seen
    assert all(e.title and e.title == e.title.strip() for e in found.entities)
    assert all(r.source and r.target and 0 < r.weight <= 100 for r in found.relationships)


DRESSINGS: list[Callable[[str], str]] = [
    lambda reply: f"```text\n{reply}\n```",
    lambda reply: f"<think>of {ACME_RECORD}</think>\n{reply}",
    lambda reply: f"Here they are:\n{reply}",
    lambda reply: reply.replace("\n", "\r\n"),
    lambda reply: reply.replace("<|>", "<||>"),
    lambda reply: reply.replace("<|>", " < | > "),
    lambda reply: reply.replace("<|>", "＜｜＞"),
    lambda reply: reply.replace('("', '(\u200b"'),
    lambda reply: reply.replace('"entity"', "entity").replace('"relationship"', "relationship"),
    lambda reply: reply.replace('("', '- ("'),
    lambda reply: reply.replace("\n##\n", "\n"),
    lambda reply: reply.replace("\n##\n", ""),
    lambda reply: reply.replace("\n##\n", ", "),
    lambda reply: reply.replace("ACME", '"ACME"'),
    lambda reply: reply.replace("BOB", "**BOB**"),
    lambda reply: reply.replace("9", "strength: 9"),
    lambda reply: reply.replace("\n<|COMPLETE|>", "<|COMPLETE|>"),
    lambda reply: reply.replace("\n<|COMPLETE|>", ""),
    lambda reply: f"{reply}\n\nThat is all.",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(DRESSINGS), max_size=5, unique=True))
def test_what_a_model_wraps_around_its_records_changes_none(
    dressings: list[Callable[[str], str]],
) -> None:
    """However many of its habits come together, the records that were written are those read."""
    reply = f"{ACME_RECORD}\n##\n{EMPLOYS_RECORD}\n<|COMPLETE|>"
    for dress in dressings:
        reply = dress(reply)
    parsed = RecordReader(entity_types=["organization"]).read(reply)

    assert (parsed.extraction.entities, parsed.extraction.relationships) == ((ACME,), (EMPLOYS,))
    assert parsed.seen == 2


WORDS = st.text(alphabet="Aab9 '\"“”.,-*é:&/", max_size=8)
FIELDS = st.one_of(
    WORDS,
    st.tuples(WORDS, st.sampled_from(["({})", "[{}]", "{{{}}}", "({}", "{})"]), WORDS).map(
        lambda parts: parts[0] + parts[1].format(parts[2])
    ),
    st.tuples(st.sampled_from(["({})", "[{}]"]), WORDS, WORDS).map(
        lambda parts: parts[0].format(parts[1]) + parts[2]
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(FIELDS, FIELDS, FIELDS, st.booleans()), min_size=1, max_size=4))
def test_as_many_records_are_seen_as_were_written(
    written: list[tuple[str, str, str, bool]],
) -> None:
    """Whatever their fields hold; the count does not come from the parser."""
    reply = "\n##\n".join(
        f'("entity"<|>{a}<|>{b}<|>{c})' if is_entity else f'("relationship"<|>{a}<|>{b}<|>{c}<|>5)'
        for a, b, c, is_entity in written
    )

    assert RecordReader().read(f"{reply}\n{END}").seen == len(written)
