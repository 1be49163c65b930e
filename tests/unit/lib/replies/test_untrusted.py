"""Text that is put into a prompt divides nothing of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.graphrag.prompts import fill
from holodeck.lib.graphrag.records import split_fields
from holodeck.lib.replies.untrusted import Neutraliser, restored

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
        ("C# and F#, # one # two", "C# and F#, # one # two"),
        ("the goal", "the goal"),
        ("x ＜｜＞ y", "x ＜¦＞ y"),
        ("x <\u200b|\u200d> y", "x <\u200b¦\u200d> y"),
        ("x &lt;|&gt; y", "x &lt;¦&gt; y"),
        ("＜｜COMPLETE｜＞", "＜¦COMPLETE¦＞"),
        ("<|COMPLETE", "<¦COMPLETE"),
        ("＃＃＃＃＃＃\nx", "####\nx"),
        ("#\u200b#\u200b# # #", "####"),
        ("\u200boutput\u00a0:", "\u200b> output\u00a0:"),
        ("Ｏｕｔｐｕｔ： x", "> Ｏｕｔｐｕｔ： x"),
        ("\u041eut\u0440ut: x", "> \u041eut\u0440ut: x"),
        ("a\rOutput:", "a\r> Output:"),
        ("a\u2028Output:", "a\u2028> Output:"),
        ("a\x85Output:", "a\x85> Output:"),
        ("**Output:** x", "> **Output:** x"),
        ("– Real Data —", "> – Real Data —"),
        ("---Goal---", "> ---Goal---"),
    ],
)
def test_only_what_divides_the_prompt_is_changed(text: str, sent: str) -> None:
    """Rules, headings at the start of a line, delimiters and markers in any guise; nothing else."""
    assert Neutraliser(PROMPT)(text) == sent


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<|>#¦ aOutput:\n-RealD", max_size=60))
def test_no_text_divides_a_prompt(text: str) -> None:
    """Whatever a text is made of, nothing that the prompt is divided by is in it."""
    sent = Neutraliser(PROMPT)(text)

    assert not any(divider in sent for divider in ("<|>", "<||>", "< | >", "#####", "\nOutput:"))
    assert not sent.startswith(("Output:", "-Real Data-"))


@pytest.mark.parametrize("text", ["x <|> y", "< || >", "<|COMPLETE|>", "a |> b", "¦", "&lt;|&gt;"])
def test_what_a_reply_repeats_comes_back_as_it_was(text: str) -> None:
    """Tables hold the delimiters of the document, not those of the prompt."""
    assert restored(Neutraliser(PROMPT)(text)) == text


@pytest.mark.parametrize("template", ["{input_text}", "{{x}}", "{0}", "%s", "${HOME}", "\\1", "{"])
def test_no_text_is_a_template(template: str) -> None:
    """What is put into a prompt is put in as it is, also where it looks like a placeholder."""
    prompt = fill("a {one} b {two} c {{d}}", one=template, two="2")

    assert prompt == f"a {template} b 2 c {{d}}"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<＜|｜>＞\u200b \\&lt;g#(", max_size=40))
def test_what_is_read_as_a_delimiter_is_never_sent(text: str) -> None:
    """A document cannot make one record two: what the reader splits at is not in a prompt."""
    sent = Neutraliser(PROMPT)(text)

    assert len(split_fields(f"<|>a<|>{sent}<|>d<|>e")[0]) == 4
