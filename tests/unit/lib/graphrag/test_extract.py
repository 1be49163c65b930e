"""Text units → entities and relationships, with models that fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import (
    AuthenticationError,
    ContentFilterError,
    IndexingError,
    ProviderError,
    RateLimitError,
)
from holodeck.lib.contracts import ChatReply, ChatRequest, Failure
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.extract import extract_graph
from holodeck.lib.graphrag.prompted_index import Memo, PromptedIndexSteps
from holodeck.lib.graphrag.summarize import SUMMARY_INPUT_TOKENS
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings
from holodeck.testing import ScriptedChat
from holodeck.testing.words import WordEmbedder

pytestmark = pytest.mark.unit

PROMPTS = {
    "extract": "types {entity_types} text {input_text}",
    "glean": "more?",
    "glean_more": "any left?",
    "claims": "{entity_specs}{claim_description}{input_text}",
    "claims_glean": "more?",
    "claims_glean_more": "any left?",
    "summarize": "about {entity_name}: {description_list} {max_length}",
    "report": "{input_text} {max_report_length}",
}
END = "<|COMPLETE|>"
Said = str | ChatReply | Exception


class Notebook:
    """A memo in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def put(self, key: str, value: str, kind: str) -> None:
        self.kept[key] = value


def speaker(number: int) -> str:
    return f'("entity"<|>P{number}<|>person<|>speaks)\n{END}'


def number_of(request: ChatRequest) -> int:
    """Return which chunk is asked about."""
    found = re.search(r"text (\d+)\.", request.messages[0].content)
    assert found is not None
    return int(found.group(1))


def make(
    folder: Path,
    replies: Mapping[int, Said] | Callable[[ChatRequest], Said],
    *,
    chunks: int = 5,
    gleanings: int = 0,
    memo: Memo | None = None,
    memo_of_steps: StepMemo | None = None,
    **settings: Any,  # Any: fields of the build
) -> tuple[Build, ScriptedChat]:
    """Return a build over chunks "text 1" …, each of which gets its reply or names its speaker."""
    numbers = range(1, chunks + 1)
    units = [{"id": f"u{n:03}", "text": f"text {n}."} for n in numbers]
    write_rows(folder, "text_units", units)
    places = [{"text_unit_id": f"u{n:03}", "path": f"{n}.txt"} for n in numbers]
    write_rows(folder, "sources", places)

    def answer(request: ChatRequest) -> Said:
        if callable(replies):
            return replies(request)
        number = number_of(request)
        return replies.get(number, speaker(number))

    chat = ScriptedChat(answer)
    steps = PromptedIndexSteps(
        chat=chat,
        settings=ModelSettings(max_tokens=99),
        prompts=PROMPTS,
        entity_types=("person",),
        max_gleanings=gleanings,
        memo=memo,
    )
    build = Build(
        output=folder,
        vectors=folder,
        steps=steps,
        embedder=WordEmbedder(),
        memo=memo_of_steps or StepMemo(),
        **settings,
    )
    return build, chat


def titles(folder: Path) -> list[str]:
    return sorted(row["title"] for row in read_rows(folder, "entities"))


BAD: dict[int, Said] = {
    2: ContentFilterError("filtered"),
    3: "I can't help with that",
    4: ChatReply(text="", finish_reason="length"),
}


async def test_chunks_that_fail_are_listed_with_their_causes(tmp_path: Path) -> None:
    """The others are in the graph; what failed says where, why, and whether it may pass."""
    build, _ = make(tmp_path, BAD, max_failed_share=0.6)
    await extract_graph(build)

    assert titles(tmp_path) == ["P1", "P5"]
    assert build.account.chunks == {"done": 2, "repaired": 0, "empty": 0, "failed": 3}
    assert [(f.id, f.place, f.passing) for f in build.failures] == [
        ("u002", "2.txt", False),
        ("u003", "3.txt", False),
        ("u004", "4.txt", True),
    ]
    assert build.failures[0].cause == "filtered"
    assert 'refused: "I can\'t help with that"' in build.failures[1].cause
    assert "no answer (token limit)" in build.failures[2].cause
    assert build.warnings[0].startswith("3 of 5 chunks failed: ")


async def test_only_what_the_model_might_do_better_is_asked_for_again(tmp_path: Path) -> None:
    """A filter would refuse again; an empty reply and one without records are asked for twice."""
    build, chat = make(tmp_path, BAD, max_failed_share=0.6)
    await extract_graph(build)

    assert sorted(map(number_of, chat.requests)) == [1, 2, 3, 3, 4, 4, 5]


async def test_above_the_allowed_share_the_build_fails(tmp_path: Path) -> None:
    """The error counts, names causes, places and the mend; the rest is not asked for."""
    build, chat = make(tmp_path, BAD, max_failed_share=0.2)
    with pytest.raises(IndexingError) as caught:
        await extract_graph(build)

    told = str(caught.value)
    for part in ("2 of 5 chunks failed", "filtered", "2.txt, 3.txt", "max_failed_share (0.2)"):
        assert part in told
    assert 5 not in map(number_of, chat.requests)
    assert not (tmp_path / "entities.parquet").exists()


@pytest.mark.parametrize("share", [0.07, 0.29, 0.57])
async def test_a_share_that_is_met_exactly_is_allowed(tmp_path: Path, share: float) -> None:
    """Seven of a hundred are not more than 0.07, whatever binary fractions say."""
    failing = dict.fromkeys(range(1, round(share * 100) + 1), ContentFilterError("no"))
    build, _ = make(tmp_path, dict(failing), chunks=100, max_failed_share=share)
    await extract_graph(build)

    assert len(build.failures) == round(share * 100)


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("wrong key", status=401),
        RateLimitError("quota used up", status=429),
        ProviderError("no such model", status=404),
    ],
    ids=["key", "quota", "model"],
)
async def test_what_every_call_would_fail_by_ends_the_build_at_once(
    tmp_path: Path, error: ProviderError
) -> None:
    """It is named as such after one call, however many failures are allowed."""
    build, chat = make(tmp_path, lambda _: error, max_failed_share=1.0)
    with pytest.raises(IndexingError, match=f"cannot be used: {error}"):
        await extract_graph(build)

    assert len(chat.requests) == 1


async def test_all_chunks_failing_is_never_an_empty_graph(tmp_path: Path) -> None:
    """Also where every share is allowed."""
    build, _ = make(tmp_path, lambda _: ProviderError("down", retryable=True), max_failed_share=1.0)

    with pytest.raises(IndexingError, match="5 of 5 chunks failed: down"):
        await extract_graph(build)


async def test_a_bad_request_is_one_chunks_failure(tmp_path: Path) -> None:
    """A server that refuses one text with 400 does not cost the others."""
    build, _ = make(tmp_path, {2: ProviderError("bad text", status=400)}, max_failed_share=0.2)
    await extract_graph(build)

    assert titles(tmp_path) == ["P1", "P3", "P4", "P5"]
    assert not build.failures[0].passing


async def test_a_page_in_place_of_an_answer_is_one_chunks_failure(tmp_path: Path) -> None:
    """A proxy that blocks one text, or fails once, does not cost hours; the next build tries it."""
    page = ProviderError("sent no usable reply: it is no chat completion")
    build, _ = make(tmp_path, {2: page}, max_failed_share=0.2)
    await extract_graph(build)

    assert titles(tmp_path) == ["P1", "P3", "P4", "P5"]
    assert build.failures[0].passing


async def test_a_further_pass_that_fails_keeps_what_the_first_found(tmp_path: Path) -> None:
    """The chunk counts as failed, so that it is asked for again; its facts are in the graph."""

    def answer(request: ChatRequest) -> Said:
        if request.purpose == "glean" and "text 2" in request.messages[0].content:
            return ProviderError("down", retryable=True)
        number = number_of(request)
        return END if request.purpose == "glean" else speaker(number)

    memo = Notebook()
    build, _ = make(tmp_path, answer, gleanings=1, max_failed_share=0.2, memo=memo)
    await extract_graph(build)

    assert titles(tmp_path) == ["P1", "P2", "P3", "P4", "P5"]
    assert build.account.chunks["failed"] == 1
    assert build.failures[0].cause.startswith("a further pass failed")
    assert build.failures[0].passing
    assert len(memo.kept) == 5 + 4  # the first pass of each, and the whole chains


async def test_the_next_build_asks_only_for_what_failed(tmp_path: Path) -> None:
    """A bad answer is never kept; with a healthy model the graph is whole."""
    memo = Notebook()
    first, _ = make(tmp_path, BAD, max_failed_share=0.6, memo=memo)
    await extract_graph(first)
    second, chat = make(tmp_path, {}, memo=memo)
    await extract_graph(second)

    assert [number_of(request) for request in chat.requests] == [2, 3, 4]
    assert titles(tmp_path) == ["P1", "P2", "P3", "P4", "P5"]
    assert second.failures == []


async def test_a_known_failure_is_not_asked_for(tmp_path: Path) -> None:
    """It stays listed, at the place where its text stands now."""
    old = Failure(what="chunk", id="u002", place="old.txt", cause="filtered")
    build, chat = make(tmp_path, {}, max_failed_share=0.2, known_failures={("chunk", "u002"): old})
    await extract_graph(build)

    assert len(chat.requests) == 4
    assert [(f.place, f.cause) for f in build.failures] == [("2.txt", "filtered")]


async def test_every_chunk_has_a_state(tmp_path: Path) -> None:
    """Done, mended, without anything to find, failed: together they are all chunks."""
    replies: dict[int, Said] = {
        1: f"```\n{speaker(1)}\n```",
        2: END,
        3: ContentFilterError("no"),
    }
    build, _ = make(tmp_path, replies, max_failed_share=0.2)
    await extract_graph(build)

    assert build.account.chunks == {"done": 2, "repaired": 1, "empty": 1, "failed": 1}
    assert build.account.repairs == {"fence taken off": 1}


async def test_dropped_records_are_counted_and_warned_of_where_they_are_many(
    tmp_path: Path,
) -> None:
    """Below a twentieth they are in the account; above, the summary says so too."""
    bad = '("entity"<|><|>person<|>x)##'
    few, _ = make(tmp_path, {1: bad + speaker(1)}, chunks=30)
    await extract_graph(few)
    many, _ = make(tmp_path, {1: bad * 3 + speaker(1)}, chunks=30)
    await extract_graph(many)

    assert few.account.dropped == {"entity without a name": 1}
    assert few.warnings == []
    assert many.warnings[0].startswith("3 of 33 extracted records could not be used")


async def test_nothing_found_is_an_empty_graph(tmp_path: Path) -> None:
    """A text that names nothing gives empty tables and true counts."""
    build, _ = make(tmp_path, {1: END}, chunks=1)
    await extract_graph(build)

    assert read_rows(tmp_path, "entities") == read_rows(tmp_path, "relationships") == []
    assert build.account.chunks["empty"] == 1


async def test_a_self_loop_leaves_its_entity(tmp_path: Path) -> None:
    """It is dropped and counted; what it names is in the graph."""
    loop = f'("relationship"<|>Vega<|>VEGA<|>orbits itself<|>2)\n{END}'
    build, _ = make(tmp_path, {1: loop}, chunks=1)
    await extract_graph(build)

    assert titles(tmp_path) == ["Vega"]
    assert read_rows(tmp_path, "relationships") == []
    assert build.account.dropped == {"relationship of an entity with itself": 1}


async def test_other_spellings_and_types_are_kept(tmp_path: Path) -> None:
    """The most frequent are shown, the others stand in a table beside them."""
    replies: dict[int, Said] = {
        1: f'("entity"<|>IBM<|>ORGANIZATION<|>makes mainframes)\n{END}',
        2: f'("entity"<|>Ibm.<|>COMPANY<|>bought Red Hat)\n{END}',
        3: f'("entity"<|>IBM<|>ORGANIZATION<|>is old)\n{END}',
    }
    build, _ = make(tmp_path, replies, chunks=3)
    await extract_graph(build)

    (ibm,) = read_rows(tmp_path, "entities")
    assert (ibm["title"], ibm["type"]) == ("IBM", "organization")
    assert ibm["description"] == "makes mainframes\nbought Red Hat\nis old"
    assert [(r["entity_id"], r["kind"], r["value"]) for r in read_rows(tmp_path, "aliases")] == [
        (ibm["id"], "spelling", "Ibm."),
        (ibm["id"], "type", "company"),
    ]
    assert build.account.merged == 1


def hub(words: int) -> Callable[[ChatRequest], Said]:
    """Return replies that all tell of one hub, each in so many words; a summary is short."""

    def answer(request: ChatRequest) -> Said:
        if request.purpose == "summarize":
            return "short"
        number = number_of(request)
        return f'("entity"<|>Hub<|>person<|>told {number} {"word " * words})\n{END}'

    return answer


@pytest.mark.parametrize(
    ("settings", "summaries"),
    [
        ({}, 0),
        ({"summary_threshold": 20}, 1),
        ({"summarize": "always"}, 1),
        ({"summarize": "always", "chunks": 1}, 0),
    ],
    ids=["short", "above the threshold", "always", "always, one description"],
)
async def test_a_summary_is_asked_for_only_where_it_is_wanted(
    tmp_path: Path, settings: dict[str, Any], summaries: int
) -> None:
    """Short descriptions are joined; ``always`` summarises two of any length."""
    build, chat = make(tmp_path, hub(5), **settings)
    await extract_graph(build)

    assert [r.purpose for r in chat.requests].count("summarize") == summaries
    (row,) = read_rows(tmp_path, "entities")
    assert (row["description"] == "short") == bool(summaries)


async def test_a_hub_in_every_chunk_is_summarised_within_bounds(tmp_path: Path) -> None:
    """Descriptions go in batches, then their summaries, so that no request outgrows its budget."""
    build, chat = make(tmp_path, hub(300), chunks=40)
    await extract_graph(build)

    asked = [r for r in chat.requests if r.purpose == "summarize"]
    sent = [request.messages[0].content for request in asked]
    assert max(map(count_tokens, sent)) < SUMMARY_INPUT_TOKENS + 500
    assert all(any(f"told {n} " in text for text in sent) for n in range(1, 41))
    assert 40 * 300 / SUMMARY_INPUT_TOKENS < len(asked) < 10
    (row,) = read_rows(tmp_path, "entities")
    assert row["description"] == "short"


async def test_a_summary_that_fails_leaves_the_descriptions(tmp_path: Path) -> None:
    """They are kept as they were found, as far as one request would hold, and it is said."""

    def answer(request: ChatRequest) -> Said:
        return ContentFilterError("no") if request.purpose == "summarize" else hub(300)(request)

    build, _ = make(tmp_path, answer, chunks=40)
    await extract_graph(build)

    (row,) = read_rows(tmp_path, "entities")
    assert row["description"].startswith("told ")
    assert count_tokens(row["description"]) <= SUMMARY_INPUT_TOKENS
    assert [(f.what, f.place) for f in build.failures] == [("summary", "Hub")]
    assert build.warnings[0].startswith("1 of 1 summaries failed: no.")


def works_at_acme(number: int) -> str:
    return (
        f'("entity"<|>P{number}<|>person<|>speaks)\n##\n'
        f'("relationship"<|>P{number}<|>Acme<|>works there<|>7)\n{END}'
    )


def as_json(text: str) -> str:
    """Return the records as lists in JSON."""
    rows = [part.strip("()\n").split("<|>") for part in text.removesuffix(f"\n{END}").split("##")]
    return json.dumps([[field.strip('"') for field in row] for row in rows])


FAULTS: dict[str, Callable[[str], Said]] = {
    "cut": lambda text: text[: len(text) * 2 // 3],
    "cut between records": lambda text: ChatReply(
        text=text[: text.index("##")], finish_reason="length"
    ),
    "empty": lambda text: "",
    "blank": lambda text: " \n",
    "out of tokens": lambda text: ChatReply(text="", finish_reason="length"),
    "thoughts only": lambda text: f"<think>first, {text}",
    "thoughts of another model only": lambda text: f"<|channel|>analysis<|message|>{text}",
    "thoughts first": lambda text: f"<think>{text.replace('P', 'FAKE')}</think>{text}",
    "end of thoughts": lambda text: f"FAKE, hm.\n</think>\n{text}",
    "prose": lambda text: "Certainly. The text is about people.",
    "prose and an end": lambda text: f"No hay nada.\n{END}",
    "a refusal": lambda text: "I can't help with that.",
    "a refusal in another language": lambda text: "申し訳ありませんが、お手伝いできません。",
    "prose around it": lambda text: f"Here it is:\n{text}\nI hope it helps (you).",
    "a fence": lambda text: f"```text\n{text}\n```",
    "no separators": lambda text: text.replace("\n##\n", ""),
    "no end marker": lambda text: text.removesuffix(END),
    "no brackets": lambda text: text.replace("(", "").replace(")", ""),
    "no kinds": lambda text: text.replace('"entity"<|>', "").replace('"relationship"<|>', ""),
    "double bars": lambda text: text.replace("<|>", "<||>"),
    "full width": lambda text: text.replace("<|>", "＜｜＞").replace("(", "（").replace(")", "）"),
    "escapes": lambda text: text.replace("<", "&lt;").replace(">", "&gt;"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "marks without width": lambda text: text.replace('("', '(\u200b"'),
    "bold": lambda text: re.sub(r"(P\d+|Acme)", r"**\1**", text),
    "JSON": as_json,
    "an unknown format": lambda text: as_json(text).replace("[", "{").replace("]", "}"),
    "weights in words": lambda text: text.replace("7)", "high (7))"),
}


@pytest.mark.parametrize("kind", FAULTS)
async def test_a_fault_that_can_be_mended_changes_nothing(tmp_path: Path, kind: str) -> None:
    """With every fifth reply spoilt, the graph is that of a healthy model, and nothing is lost."""
    turn = count(1)

    def faulty(request: ChatRequest) -> Said:
        text = works_at_acme(number_of(request))
        return text if next(turn) % 5 else FAULTS[kind](text)

    rows = []
    for name, replies in (
        ("healthy", lambda request: works_at_acme(number_of(request))),
        ("faulty", faulty),
    ):
        (tmp_path / name).mkdir()
        build, _ = make(tmp_path / name, replies, chunks=10)
        await extract_graph(build)
        rows.append(
            [read_rows(tmp_path / name, t) for t in ("entities", "relationships", "aliases")]
        )

    assert rows[0] == rows[1]
    assert [len(table) for table in rows[0]] == [11, 10, 0]
    assert build.chunks["done"] + build.chunks["repaired"] == 10
    assert build.dropped == {}
    assert build.failures == []


async def test_a_text_that_was_read_before_is_not_put_to_a_model_again(tmp_path: Path) -> None:
    """What was read of it is in the graph and the account; a text that failed is asked again."""
    memo = StepMemo()
    spoiled = f'("entity"<|>P2)\n("entity"<|>Q<|>person<|>sits)\n{END}'
    first, _ = make(tmp_path, {2: spoiled, 4: ContentFilterError("filtered")}, memo_of_steps=memo)
    await extract_graph(replace(first, max_failed_share=1.0))
    memo.write(tmp_path / "steps.memo")

    known = StepMemo(tmp_path / "steps.memo")
    second, chat = make(tmp_path, {2: "never asked"}, chunks=6, memo_of_steps=known)
    await extract_graph(second)

    assert [number_of(request) for request in chat.requests] == [4, 6]
    assert titles(tmp_path) == ["P1", "P3", "P4", "P5", "P6", "Q"]
    assert second.account.dropped == first.account.dropped != {}
    assert second.account.chunks["failed"] == 0
