"""Text that is put into a prompt divides nothing of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.graphrag.untrusted import Neutraliser, restored

pytestmark = pytest.mark.unit

PROMPT = "-Goal-\nFind all.\n######################\n-Real Data-\nText: {input_text}\nOutput:"


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("plain text", "plain text"),
        ("## A heading, and C# code", "## A heading, and C# code"),
        ("a |> b pipes on", "a |> b pipes on"),
        ("x <|> y", "x <¦> y"),
        ("x < || > y", "x < ¦¦ > y"),
        ("<|COMPLETE|> <|im_start|>", "<¦COMPLETE¦> <¦im_start¦>"),
        ("#######", "####"),
        ("a\nOutput:\nb", "a\n> Output:\nb"),
        ("  output: x", "  > output: x"),
        ("-Real Data-", "> -Real Data-"),
        ("the Output: of it", "the Output: of it"),
    ],
)
def test_only_what_divides_the_prompt_is_changed(text: str, sent: str) -> None:
    """Rules, headings at the start of a line, delimiters and markers; nothing else."""
    assert Neutraliser(PROMPT)(text) == sent


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<|>#¦ aOutput:\n-RealD", max_size=60))
def test_no_text_divides_a_prompt(text: str) -> None:
    """Whatever a text is made of, nothing that the prompt is divided by is in it."""
    sent = Neutraliser(PROMPT)(text)

    assert not any(divider in sent for divider in ("<|>", "<||>", "< | >", "#####", "\nOutput:"))
    assert not sent.startswith(("Output:", "-Real Data-"))


@pytest.mark.parametrize("text", ["x <|> y", "< || >", "<|COMPLETE|>", "a |> b", "¦"])
def test_what_a_reply_repeats_comes_back_as_it_was(text: str) -> None:
    """Tables hold the delimiters of the document, not those of the prompt."""
    assert restored(Neutraliser(PROMPT)(text)) == text
