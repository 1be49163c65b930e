"""The thinking steps of provider ``embedded``."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holodeck
from holodeck.errors import ConfigError
from holodeck.lib.contracts import (
    AnswerContext,
    AnswerSteps,
    ContextEntity,
    ContextRelationship,
    ContextReport,
    ContextTextUnit,
    IndexSteps,
)
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.embedded import EXTRACTIVE_VERSION, ExtractiveSteps
from holodeck.lib.providers.extractive.answer import NOTE, NOTHING_FOUND

pytestmark = pytest.mark.unit

STEPS = ExtractiveSteps(ModelAccess(provider="embedded", name="extractive"))
CONTEXT = AnswerContext(
    entities=(
        ContextEntity(
            number=27, title="Zelda Quist", description="Zelda Quist led the Orion project."
        ),
    ),
    relationships=(
        ContextRelationship(
            number=5,
            source="Zelda Quist",
            target="Bergen",
            description="Zelda Quist trained as an engineer in Bergen.",
        ),
    ),
    text_units=(
        ContextTextUnit(number=2, text="Potatoes grow well in sandy soil."),
        ContextTextUnit(
            number=3,
            text="The rain had stopped. Zelda Quist led the Orion project. It ended in 1974.",
        ),
    ),
)


def test_the_table_of_providers_finds_the_steps() -> None:
    """The row of the provider loads a class that is both kinds of steps."""
    loaded = PROVIDER_TABLE["embedded"].load("steps")
    for_indexing: IndexSteps = STEPS
    for_answers: AnswerSteps = STEPS

    assert loaded is ExtractiveSteps
    assert isinstance(for_indexing, loaded)
    assert isinstance(for_answers, loaded)


async def test_an_answer_quotes_what_fits_and_cites_every_record_that_has_it() -> None:
    """The sentence that answers is quoted once, with all its records, and nothing beside it."""
    answer = await STEPS.answer_local("Who led the Orion project?", CONTEXT)

    assert answer.text.startswith(
        "Zelda Quist led the Orion project. [Data: Sources (3); Entities (27)]"
    )
    assert "Potatoes" not in answer.text
    assert answer.notes == (NOTE,)


async def test_relationships_are_cited_by_their_own_name() -> None:
    """A sentence that only a relationship has is cited as such."""
    answer = await STEPS.answer_local("Where did Zelda Quist train as an engineer?", CONTEXT)

    assert answer.text.startswith(
        "Zelda Quist trained as an engineer in Bergen. [Data: Relationships (5)]"
    )


async def test_a_pronoun_is_quoted_with_the_sentence_it_refers_to() -> None:
    """A sentence that begins with a pronoun is not quoted without the one before it."""
    answer = await STEPS.answer_local("In which year did the Orion project end in 1974?", CONTEXT)

    assert "Zelda Quist led the Orion project. It ended in 1974. [Data: Sources (3)]" in answer.text


@pytest.mark.parametrize("context", [AnswerContext(), CONTEXT])
async def test_no_answer_is_said_plainly(context: AnswerContext) -> None:
    """An empty context, or one about other things, gives no quote but the plain truth."""
    answer = await STEPS.answer_local("Which enzymes digest lactose?", context)

    assert answer.text == NOTHING_FOUND


async def test_a_question_in_chinese_finds_chinese_text() -> None:
    """Words are compared in every script, and the quote stays in the script of its source."""
    context = AnswerContext(
        text_units=(
            ContextTextUnit(number=1, text="今天天气很好。公司去年卖出了很多汽车。"),
            ContextTextUnit(number=2, text="李雷领导了猎户座项目。他住在北京。"),
        )
    )
    answer = await STEPS.answer_local("谁领导了猎户座项目？", context)
    nothing = await STEPS.answer_local("谁发明了电灯？", context)

    assert answer.text == "李雷领导了猎户座项目。 [Data: Sources (2)]"
    assert nothing.text == NOTHING_FOUND


def report(number: int, content: str, rank: float = 5.0) -> ContextReport:
    """Return a report whose summary is its first sentence."""
    return ContextReport(
        number=number,
        title=f"Title {number}",
        content=f"# Title {number}\n\n{content}",
        rank=rank,
        summary=content.split(". ")[0],
    )


async def test_a_global_answer_draws_on_several_reports() -> None:
    """Several reports are cited by number; their own references and headings are not quoted."""
    reports = [
        report(7, "Whales feed on krill in the Southern Ocean [Data: Entities (1)]."),
        report(8, "Penguins feed on krill and fish [Data: Entities (4)]."),
        report(9, "Trains run on rails."),
    ]
    answer = await STEPS.answer_global("Which animals feed on krill?", reports)

    assert sorted(re.findall(r"\[Data: [^\]]*\]", answer.text)) == [
        "[Data: Reports (7)]",
        "[Data: Reports (8)]",
    ]
    assert "Title" not in answer.text
    assert answer.notes == (NOTE,)


async def test_an_overview_asks_the_important_reports() -> None:
    """A question about everything quotes summaries, and importance decides between equals."""
    reports = [report(1, "Zork sank.", rank=1), report(2, "Quent burned.", rank=9)]
    answer = await STEPS.answer_global("What are the main themes?", reports)

    assert answer.text == "Quent burned. [Data: Reports (2)] Zork sank. [Data: Reports (1)]"


async def test_no_report_is_said_plainly() -> None:
    """Without reports, or without a fitting one, the answer says that nothing was found."""
    assert (await STEPS.answer_global("What are the main themes?", [])).text == NOTHING_FOUND
    answer = await STEPS.answer_global("Which enzymes digest lactose?", [report(1, "Zork sank.")])
    assert answer.text == NOTHING_FOUND


async def test_steps_run_at_once_and_always_give_the_same() -> None:
    """Concurrent calls on one object give what single calls give."""
    texts = [f"Zelda met Quentin{number} in Oslo." for number in range(8)]
    together = await asyncio.gather(*(STEPS.extract(text) for text in texts))

    assert list(together) == [await STEPS.extract(text) for text in texts]


SAME_EVERYWHERE = """
from holodeck.lib.contracts import AnswerContext, ContextTextUnit
from holodeck.lib.providers.extractive.answer import answer_from_context
from holodeck.lib.providers.extractive.describe import best_sentences
from holodeck.lib.providers.extractive.extract import build_extraction, read_by_rules
from holodeck.lib.providers.extractive.rank import text_rank
from holodeck.lib.providers.static_vectors import shared_vectors

names = ["Zelda", "Oslo", "Bergen", "Quentin", "Orion"]
sentences = [f"{one} saw {other} beside the {number % 3} red ships of {names[number % 5]}."
             for number, one in enumerate(names * 3) for other in names]
text = " ".join(sentences)
context = AnswerContext(text_units=(ContextTextUnit(number=1, text=text),))
print(build_extraction(read_by_rules(text)))
print(best_sentences(sentences, 5))
print(text_rank([sentence.split() for sentence in sentences]).tolist())
print(answer_from_context("Who saw ships of Orion in Bergen?", context, shared_vectors().embed))
"""


def test_two_processes_give_the_same() -> None:
    """Nothing depends on the order in which a process happens to keep its sets."""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SAME_EVERYWHERE],
            capture_output=True,
            text=True,
            check=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(Path(holodeck.__file__).parents[1]),
            },
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(outputs) == 1
    assert "Extraction(" in outputs.pop()


async def test_entity_types_reach_the_extraction() -> None:
    """The configured types are the only ones given."""
    access = ModelAccess(provider="embedded", name="extractive")
    extraction = await ExtractiveSteps(access, entity_types=("place",)).extract("We saw Oslo.")

    assert [(entity.title, entity.type) for entity in extraction.entities] == [("Oslo", "")]


def test_the_version_names_what_shapes_the_output() -> None:
    """The version of the rules and of the lexicon are in the version of the steps."""
    assert re.fullmatch(rf"extractive {EXTRACTIVE_VERSION}, textblob [\d.]+", STEPS.version)


@pytest.mark.parametrize("name", ["gpt-4o", "no_such_pipeline", "no/such/folder"])
def test_an_unknown_model_is_refused_with_the_way_to_add_it(name: str) -> None:
    """A name that is neither the rules nor an installed pipeline says how to get one."""
    pytest.importorskip("spacy", reason="spaCy is not installed")
    with pytest.raises(ConfigError, match=r"spacy download .* name: extractive") as caught:
        ExtractiveSteps(ModelAccess(provider="embedded", name=name, where="indexing_model"))

    assert str(caught.value).startswith("indexing_model: ")


def spacy_pipeline(folder: Path) -> str:
    """Save a pipeline that knows two names, and return where it is."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "ORG", "pattern": "analytical engine"},
            {"label": "PERSON", "pattern": "Zelda"},
            {"label": "DATE", "pattern": "Harvest Moon"},
        ]
    )
    pipeline.to_disk(folder)
    return str(folder)


async def test_a_spacy_pipeline_finds_and_types_names(tmp_path: Path) -> None:
    """The named pipeline gives names and types, the rules add what it has no word of."""
    access = ModelAccess(provider="embedded", name=spacy_pipeline(tmp_path / "pipeline"))
    steps = ExtractiveSteps(access)
    extraction = await steps.extract("Zelda built the analytical engine in Oslo by Harvest Moon.")

    assert [(entity.title, entity.type) for entity in extraction.entities] == [
        ("Zelda", "person"),
        ("analytical engine", "organization"),
        ("Oslo", "location"),
    ]
    assert [(each.source, each.target) for each in extraction.relationships] == [
        ("analytical engine", "Zelda"),
        ("analytical engine", "Oslo"),
        ("Oslo", "Zelda"),
    ]
    assert steps.version != STEPS.version


async def test_a_pipeline_that_cannot_be_loaded_is_a_configuration_error(tmp_path: Path) -> None:
    """A folder with a broken pipeline is refused with the reason when it is first needed."""
    pytest.importorskip("spacy", reason="spaCy is not installed")
    (tmp_path / "config.cfg").write_text("[nlp]\n", encoding="utf-8")
    steps = ExtractiveSteps(ModelAccess(provider="embedded", name=str(tmp_path)))
    with pytest.raises(ConfigError, match="cannot be loaded"):
        await steps.extract("Zelda met Quentin.")
