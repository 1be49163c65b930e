"""The short prompts, and the library's in whose place they stand."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.lean_prompts import LEAN_PROMPTS
from holodeck.lib.graphrag.parse import RecordReader
from holodeck.lib.graphrag.prompts import INDEX_PROMPTS, Template, read_prompts
from holodeck.lib.tokens import count_tokens

pytestmark = pytest.mark.unit

LIBRARY = read_prompts(INDEX_PROMPTS)


def placeholders(prompt: str) -> set[str]:
    plain = prompt.replace("{{", "").replace("}}", "")
    return set(re.findall(r"\{(\w+)\}", plain))


@pytest.mark.parametrize("name", LEAN_PROMPTS)
def test_a_short_prompt_takes_what_the_library_s_takes(name: str) -> None:
    """Either can stand in the other's place, and the short one is shorter."""
    assert placeholders(LEAN_PROMPTS[name]) == placeholders(LIBRARY[name])
    assert count_tokens(LEAN_PROMPTS[name]) <= count_tokens(LIBRARY[name])


def test_the_form_that_is_shown_is_the_form_that_is_read() -> None:
    """A reply in the form of the prompt gives its records; the form itself is none."""
    reader = RecordReader(LEAN_PROMPTS["extract"], ["person"])
    reply = (
        '("entity"<|>Ann Lee<|>person<|>A pilot.)\n'
        '("relationship"<|>Ann Lee<|>Orion<|>runs it<|>8)\n<|COMPLETE|>'
    )
    read = reader.read(reply)
    form = LEAN_PROMPTS["extract"].partition("nothing else:")[2].partition("TYPE is")[0]

    assert [entity.title for entity in read.extraction.entities] == ["Ann Lee"]
    assert [edge.weight for edge in read.extraction.relationships] == [8.0]
    assert not reader.read(form).extraction.entities


def test_the_report_s_form_is_json() -> None:
    """Doubled braces are single ones in what is sent."""
    sent = Template(LEAN_PROMPTS["report"]).fill(input_text="x", max_report_length="9")

    assert '{"title"' in sent
    assert "{{" not in sent
