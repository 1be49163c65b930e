"""The thinking steps of a build, asked of a language model."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from holodeck.errors import ProviderError
from holodeck.lib.contracts import ChatReply, CommunityContext, ContextEntity
from holodeck.lib.graphrag.prompted_index import PromptedIndexSteps
from holodeck.models.llm import ModelSettings
from holodeck.testing import ScriptedChat

pytestmark = pytest.mark.unit

PROMPTS = {
    "extract": "types {entity_types} text {input_text}",
    "glean": "more?",
    "glean_more": "any left?",
    "claims": "claims of {entity_specs} about {claim_description} in {input_text}",
    "claims_glean": "more claims?",
    "claims_glean_more": "any claims left?",
    "summarize": "{entity_name} {description_list} {max_length}",
    "report": "{input_text} {max_report_length}",
}
ANN = '("entity"<|>Ann<|>person<|>runs Orion)'
BOB = '("entity"<|>Bob<|>person<|>runs Vega)'
REPORT = '{"title": "T", "summary": "S", "rating": 7, "findings": [{"summary": "f"}]}'


class Notebook:
    """A memo in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def put(self, key: str, value: str, kind: str) -> None:
        self.kept[key] = value


def steps(
    script: Iterable[str | ChatReply | Exception],
    *,
    gleanings: int = 0,
    memo: Notebook | None = None,
    temperature: float | None = 0.0,
) -> tuple[PromptedIndexSteps, ScriptedChat]:
    chat = ScriptedChat(script)
    made = PromptedIndexSteps(
        chat=chat,
        settings=ModelSettings(temperature=temperature, max_tokens=99),
        prompts=PROMPTS,
        entity_types=("person", "organization"),
        max_gleanings=gleanings,
        memo=memo,
    )
    return made, chat


async def test_the_prompt_holds_types_and_text() -> None:
    """The configured entity types and the text, braces and all, reach the model."""
    made, chat = steps([ANN])
    await made.extract("Ann {runs} Orion")

    assert chat.requests[0].messages[0].content == (
        "types person,organization text Ann {runs} Orion"
    )


@pytest.mark.parametrize("temperature", [0.0, 0.7, None])
async def test_settings_reach_the_request(temperature: float | None) -> None:
    """Temperature and greatest length are sent as configured; null sends no temperature."""
    made, chat = steps([ANN], temperature=temperature)
    await made.extract("x")

    assert (chat.requests[0].temperature, chat.requests[0].max_tokens) == (temperature, 99)


@pytest.mark.parametrize(("gleanings", "calls"), [(0, 1), (1, 2), (2, 4)])
async def test_each_gleaning_is_a_further_turn(gleanings: int, calls: int) -> None:
    """A gleaning asks again in the same conversation; before the second one asks whether to."""
    made, chat = steps([ANN, BOB, "Y", "<|COMPLETE|>"], gleanings=gleanings)
    found = await made.extract("x")

    assert len(chat.requests) == calls
    assert {e.title for e in found.entities} == ({"Ann"} if gleanings == 0 else {"Ann", "Bob"})
    assert [r.purpose for r in chat.requests] == ["extract", *["glean"] * (calls - 1)]


async def test_gleaning_stops_when_the_model_has_no_more() -> None:
    """An answer that is not yes ends the chain."""
    made, chat = steps([ANN, BOB, "N"], gleanings=3)
    await made.extract("x")

    assert len(chat.requests) == 3


async def test_a_gleaned_reply_is_parsed_by_itself() -> None:
    """The end marker of one reply never swallows the first record of the next."""
    made, _ = steps([f"{ANN}\n<|COMPLETE|>", BOB], gleanings=1)

    assert [e.title for e in (await made.extract("x")).entities] == ["Ann", "Bob"]


async def test_an_accepted_chain_is_asked_once() -> None:
    """The whole chain is kept under its first request; the same text asks for nothing."""
    memo = Notebook()
    first, _ = steps([ANN, BOB], gleanings=1, memo=memo)
    again, silent = steps([], gleanings=1, memo=memo)

    accepted = await first.extract("x")

    assert await again.extract("x") == accepted
    assert silent.requests == []


async def test_a_broken_chain_is_asked_again() -> None:
    """What fails half way keeps nothing: the next run asks from the start."""
    memo = Notebook()
    broken, _ = steps([ANN, ProviderError("down")], gleanings=1, memo=memo)
    with pytest.raises(ProviderError):
        await broken.extract("x")

    assert memo.kept == {}


@pytest.mark.parametrize("setting", ["temperature", "text", "gleanings"])
async def test_what_shapes_a_reply_is_part_of_its_key(setting: str) -> None:
    """Another temperature, text or number of passes is another chain."""
    memo = Notebook()
    first, _ = steps([ANN], memo=memo)
    await first.extract("x")
    other, chat = steps(
        [ANN, BOB],
        memo=memo,
        gleanings=1 if setting == "gleanings" else 0,
        temperature=0.5 if setting == "temperature" else 0.0,
    )
    await other.extract("y" if setting == "text" else "x")

    assert chat.requests


async def test_no_content_is_no_answer() -> None:
    """An empty reply is an error that says why, never a chunk without entities."""
    made, _ = steps([ChatReply(text=" ", finish_reason="length")])

    with pytest.raises(ProviderError, match=r"'length', raise max_tokens"):
        await made.extract("x")


async def test_a_bare_end_marker_is_an_answer() -> None:
    """A text without entities is found to be so, and kept."""
    memo = Notebook()
    made, _ = steps(["<|COMPLETE|>"], memo=memo)

    assert (await made.extract("Hello world")).entities == ()
    assert len(memo.kept) == 1


async def test_a_report_is_asked_for_as_json_and_kept_once_accepted() -> None:
    """The request wants JSON; a reply without a report is not kept."""
    community = CommunityContext(
        entities=(ContextEntity(number=1, title="Ann", description="d"),), relationships=()
    )
    memo = Notebook()
    bad, _ = steps(["I cannot"], memo=memo)
    with pytest.raises(ProviderError, match="JSON"):
        await bad.report(community)
    assert memo.kept == {}

    good, chat = steps([f"```json\n{REPORT}\n```"], memo=memo)
    report = await good.report(community)
    assert chat.requests[0].json
    assert (report.title, report.rating, report.findings[0].summary) == ("T", 7.0, "f")
    assert len(memo.kept) == 1


async def test_claims_are_read_from_every_reply() -> None:
    """Claims of the first reply and of the gleaned one; NONE stands for unknown."""
    made, _ = steps(
        [
            "(ACME<|>NONE<|>FRAUD<|>TRUE<|>NONE<|>NONE<|>it cheated<|>quote)<|COMPLETE|>",
            "(BOB<|>ACME<|>THEFT<|>SUSPECTED<|>2015-01-01<|>2015-01-02<|>he stole<|>q)",
        ],
        gleanings=1,
    )
    claims = await made.claims("x")

    assert [(c.subject, c.object, c.status, c.start_date) for c in claims] == [
        ("ACME", "", "TRUE", ""),
        ("BOB", "ACME", "SUSPECTED", "2015-01-01"),
    ]
