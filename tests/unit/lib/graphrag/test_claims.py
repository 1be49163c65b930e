"""Text units → claims, with models that fail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from holodeck.errors import ContentFilterError, IndexingError
from holodeck.lib.contracts import ChatReply, ChatRequest
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.claims import extract_claims
from holodeck.lib.graphrag.prompted_index import PromptedIndexSteps
from holodeck.lib.graphrag.tables import read_rows, write_rows
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
Said = str | ChatReply | Exception


def claim(subject: str, description: str = "cheated") -> str:
    return f"({subject}<|>NONE<|>FRAUD<|>TRUE<|>NONE<|>NONE<|>{description}<|>quote)"


def make(folder: Path, replies: Mapping[str, Said], max_failed_share: float = 0.05) -> Build:
    """Return a build over the chunks "one" to "four", each of which gets its reply or none."""
    units = [{"id": text, "text": text} for text in ("one", "two", "three", "four")]
    write_rows(folder, "text_units", units)
    write_rows(folder, "sources", [{"text_unit_id": u["id"], "path": u["id"]} for u in units])
    write_rows(folder, "entities", [{"id": "e", "title": "Acme Corp"}])

    def answer(request: ChatRequest) -> Said:
        text = request.messages[0].content
        return next((said for key, said in replies.items() if key in text), "<|COMPLETE|>")

    steps = PromptedIndexSteps(
        chat=ScriptedChat(answer),
        settings=ModelSettings(max_tokens=99),
        prompts=PROMPTS,
        entity_types=("person",),
        max_gleanings=0,
        memo=None,
    )
    return Build(
        output=folder,
        vectors=folder,
        steps=steps,
        claims=steps,
        embedder=WordEmbedder(),
        max_failed_share=max_failed_share,
    )


async def test_what_claims_lose_is_counted_and_warned_of(tmp_path: Path) -> None:
    """As records of entities are: by reason, beside how many there are in the index."""
    build = make(
        tmp_path,
        {
            "one": f"{claim('ACME CORP.')}##{claim('...')}<|COMPLETE|>",
            "two": f"```\n{claim('Bob')}##{claim('Eve', 'NONE')}\n```",
        },
    )
    await extract_claims(build)

    subjects = sorted(row["subject_id"] for row in read_rows(tmp_path, "covariates"))
    assert subjects == ["Acme Corp", "Bob"]
    assert build.account.claims == 2
    assert build.account.dropped == {
        "claim with a name of punctuation only": 1,
        "claim without a description": 1,
    }
    assert build.account.repairs == {"claims: fence taken off": 1}
    assert build.warnings[0].startswith("2 of 4 claims could not be used: 1 claim with a name")


async def test_claims_of_a_chunk_that_fails_are_listed(tmp_path: Path) -> None:
    """The others are in the index."""
    refused = ContentFilterError("filtered")
    build = make(tmp_path, {"one": claim("Bob"), "two": refused}, max_failed_share=0.25)
    await extract_claims(build)

    assert build.account.claims == 1
    assert [(f.what, f.place, f.passing) for f in build.failures] == [("claims", "two", False)]
    assert build.warnings[0].startswith("1 of 4 chunks failed (claims): filtered.")


async def test_too_many_chunks_without_claims_end_the_build(tmp_path: Path) -> None:
    """Their share is counted by itself."""
    build = make(tmp_path, {"one": "", "two": "I can't help with that."}, max_failed_share=0.25)

    with pytest.raises(IndexingError, match=r"2 of 4 chunks failed \(claims\)"):
        await extract_claims(build)
