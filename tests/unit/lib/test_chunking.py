"""Chunks: bounded by tokens, lossless, never inside a character, linear."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holodeck.errors import ConfigError
from holodeck.lib.chunking import CHUNKING_VERSION, chunk_document
from holodeck.lib.documents import Chunk, Document, Place
from holodeck.lib.tokens import count_tokens, encoding

pytestmark = pytest.mark.unit

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇩🇪"
CHINESE = "范围内产生的二氧化碳排放量"
ENGLISH = "Ada Lovelace leads Analytical Ltd. She wrote, in 1843, the first program.\n"

# Pieces whose joins are where cuts go wrong: clusters, scripts, blanks, ranks of their own.
PIECES = (
    *(
        "a",
        "word ",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\u3000",
        "Ltd. ",
        "# Orion\n",
        '"}],{"',
        "<|endoftext|>",
        "é",
    ),
    *(
        FAMILY,
        "🏳️‍🌈",
        "🇩🇪",
        "e\u0301\u0323",
        "क्षत्रिय",
        "한국어",
        "\u1100\u1161",
        CHINESE,
        "。",
        "مرحبا",
    ),
    *("\ufffd", "\U00010348", "0123456789", "----------", "\u200d", "\u0301"),
)
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=120).map("".join)
SIZES = st.tuples(st.integers(4, 60), st.integers(0, 59)).map(lambda two: (two[0], two[1] % two[0]))


def document(text: str) -> Document:
    """A document of this text."""
    return Document(place=Place(path="a.txt"), text=text)


def cut(text: str, size: int = 50, overlap: int = 10) -> list[Chunk]:
    """Its chunks."""
    return chunk_document(document(text), size, overlap)


def joined(chunks: Sequence[Chunk]) -> str:
    """The chunks without what they repeat."""
    return "".join(chunk.text[chunk.overlap :] for chunk in chunks)


def without_blanks(text: str) -> str:
    """What there is to read."""
    return "".join(text.split())


def cluster_boundaries(text: str) -> set[int]:
    """Offsets at which a character, as people see it, begins or ends."""
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(text=TEXTS, sizes=SIZES)
@example(text="word" + " \n" * 200 + "word", sizes=(20, 10))
@example(text="word " * 50 + "\n \n" * 40, sizes=(20, 5))
@example(text=(FAMILY + " ") * 30, sizes=(4, 3))
@settings(max_examples=150, deadline=None)
def test_every_text_is_cut_by_the_rules(text: str, sizes: tuple[int, int]) -> None:
    """Whatever the text: bounded, counted exactly, overlapping, readable, and nothing is lost."""
    size, overlap = sizes

    chunks = cut(text, size, overlap)

    assert without_blanks(joined(chunks)) == without_blanks(text)
    for chunk in chunks:
        assert chunk.n_tokens == count_tokens(chunk.text) <= size
        assert chunk.text[chunk.overlap :].strip()
        assert chunk.document_id == document(text).id
        assert count_tokens(chunk.text[: chunk.overlap]) <= overlap
    for before, after in pairwise(chunks):
        assert before.text.endswith(after.text[: after.overlap])
        assert after.overlap < len(before.text)


@given(text=TEXTS.map(lambda text: regex.sub(r"\s+", " ", text)), overlap=st.integers(0, 49))
@example(text="0:" * 49 + " # elephant ", overlap=0)
@settings(max_examples=100, deadline=None)
def test_joined_chunks_are_the_document(text: str, overlap: int) -> None:
    """Without overlaps, the chunks are the document, character by character."""
    chunks = cut(text, 50, overlap)

    assert joined(chunks) == (text if text.strip() else "")


@given(text=TEXTS, overlap=st.integers(0, 49))
@settings(max_examples=100, deadline=None)
def test_no_cut_goes_through_a_cluster(text: str, overlap: int) -> None:
    """Every chunk starts and ends where a reader sees a new character begin."""
    text = regex.sub(r"\s+", " ", text)
    if any(count_tokens(cluster) > 50 for cluster in regex.findall(r"\X", text)):
        return
    boundaries = cluster_boundaries(text)

    position = 0
    for chunk in cut(text, 50, overlap):
        assert position - chunk.overlap in boundaries
        position += len(chunk.text) - chunk.overlap
        assert position in boundaries


def test_mixed_scripts_bring_no_replacement_character() -> None:
    """A token window never leaves half a character behind."""
    text = CHINESE * 200 + FAMILY * 20 + "مرحبا بالعالم " * 40

    chunks = cut(text)

    assert joined(chunks) == text
    assert not any("\ufffd" in chunk.text for chunk in chunks)


def test_the_same_text_gives_the_same_chunks() -> None:
    """Chunks depend on text and settings alone: their ids are what work is remembered by."""
    text = (ENGLISH + CHINESE) * 40

    assert cut(text) == cut(text)
    assert [chunk.id for chunk in cut(text)] == [chunk.id for chunk in cut(text)]


def test_chunks_overlap_by_about_the_tokens_asked_for() -> None:
    """Prose really overlaps: between half of the setting and all of it."""
    chunks = cut(ENGLISH * 60, 100, 40)

    overlaps = [count_tokens(chunk.text[: chunk.overlap]) for chunk in chunks[1:]]
    assert all(20 <= tokens <= 40 for tokens in overlaps)


def test_chunks_are_filled() -> None:
    """Ending at a sentence costs at most an eighth of a chunk, so the price stays what was said."""
    chunks = cut(ENGLISH * 60, 100, 0)

    assert all(chunk.n_tokens >= 87 for chunk in chunks[:-1])


def test_prose_is_cut_between_sentences() -> None:
    """A chunk of prose ends with a whole sentence where one ends shortly before the limit."""
    chunks = cut("He came. She went on to see. " * 60, 100, 0)

    assert {chunk.text.rstrip()[-1] for chunk in chunks} == {"."}


def test_words_are_not_cut() -> None:
    """Where no sentence ends, chunks start and end between words."""
    chunks = cut("antidisestablishmentarianism " * 100, 50, 20)

    assert {word for chunk in chunks for word in chunk.text.split()} == {
        "antidisestablishmentarianism"
    }


def test_a_short_document_is_one_chunk() -> None:
    """A text that fits is left alone, its blanks included."""
    assert cut("\n Ada \n") == [
        Chunk(document_id=document("\n Ada \n").id, text="\n Ada \n", n_tokens=3)
    ]


@pytest.mark.parametrize("text", ["", " \n\t\u3000"])
def test_a_blank_document_has_no_chunk(text: str) -> None:
    """Nothing to read gives nothing to pay for."""
    assert cut(text) == []


def test_special_tokens_in_a_text_are_plain_text() -> None:
    """A document that speaks of ``<|endoftext|>`` is cut like any other."""
    text = "<|endoftext|> and <|fim_prefix|> " * 30

    assert joined(cut(text)) == text


def test_a_blank_tail_follows_something_to_read() -> None:
    """Blanks at the end make no chunk of their own, and are kept."""
    words = "one two three four five six seven eight nine ten" + " \n" * 8

    for size in range(10, 30):
        chunks = cut(words, size, 0)
        assert joined(chunks) == words
        assert all(chunk.text.strip() for chunk in chunks)


@pytest.mark.parametrize("blanks", [10, 20, 30, 40, 44, 47])
def test_blanks_that_leave_room_are_kept(blanks: int) -> None:
    """Blanks beside which a character fits into a chunk belong to the text, to the last."""
    text = "\n\t " * blanks + "internationalization" * 20 + "\n\t " * (blanks // 2)

    assert joined(cut(text, 50, 10)) == text


def test_a_blank_before_a_cluster_that_fills_a_chunk_is_kept() -> None:
    """Where only the blank would fit beside a cluster, the cluster is cut and nothing is lost."""
    text = f"{FAMILY}\t" * 4 + "a"

    assert joined(cut(text, count_tokens(FAMILY), 0)) == text


def test_a_blank_run_longer_than_a_chunk_is_left_out() -> None:
    """Blanks that fill whole chunks are not paid for; every word is kept."""
    text = "before" + "\n \t" * 2_000 + "after"

    chunks = cut(text, 50, 10)

    assert len(chunks) <= 3
    assert "".join(chunk.text for chunk in chunks).split() == ["before", "after"]


def test_a_cluster_longer_than_a_chunk_is_cut_between_characters() -> None:
    """One letter with a thousand marks is bounded like everything else."""
    text = "a" + "\u0301" * 1_000

    chunks = cut(text)

    assert joined(chunks) == text
    assert max(chunk.n_tokens for chunk in chunks) <= 50


def minified_json(characters: int) -> str:
    """One line of about this length."""
    rows = [
        {"id": number, "name": f"n{number * 7919 % 1009}"} for number in range(characters // 24)
    ]
    return json.dumps(rows, separators=(",", ":"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one line of JSON", minified_json(60_000)),
        ("Chinese without newlines", (CHINESE + "，") * 2_000),
        ("a run of one letter", "a" * 60_000),
        ("a run of marks", "a" + "\u0301" * 20_000),
        ("a run of blanks", "a" + " " * 300_000 + "b"),
        ("emoji", FAMILY * 2_000),
        ("prose", ENGLISH * 800),
    ],
)
def test_work_is_linear_in_the_length(name: str, text: str) -> None:
    """Characters given to the tokenizer: at most six for each one, however long the text is."""
    encoded = 0

    def counting(piece: str) -> list[int]:
        nonlocal encoded
        encoded += len(piece)
        return encoding().encode_ordinary(piece)

    def work(length: int) -> int:
        nonlocal encoded
        encoded = 0
        chunks = chunk_document(document(text[:length]), 300, 100, encode=counting)
        assert max((chunk.n_tokens for chunk in chunks), default=0) <= 300
        return encoded

    assert work(len(text)) <= 6 * len(text), name
    assert work(len(text)) <= 2.5 * work(len(text) // 2) + 3_000, name


def test_a_piece_given_to_the_tokenizer_is_bounded() -> None:
    """No call sees a whole large text: the tokenizer overflows on very long runs."""
    longest = 0

    def measuring(piece: str) -> list[int]:
        nonlocal longest
        longest = max(longest, len(piece))
        return encoding().encode_ordinary(piece)

    chunk_document(document("a" + " " * 1_500_000 + "b"), 8_000, 0, encode=measuring)

    assert longest <= 100_000


@pytest.mark.parametrize(("size", "overlap"), [(50, 50), (50, 100), (100, 100), (50, -1)])
def test_an_overlap_that_leaves_no_progress_is_refused(size: int, overlap: int) -> None:
    """Overlap at or above the size is an error that names both, not an endless loop."""
    with pytest.raises(ConfigError, match=rf"chunk_overlap \({overlap}\).*chunk_size \({size}\)"):
        cut("word " * 5_000, size, overlap)


def test_a_size_below_one_character_is_refused() -> None:
    """A character may take four tokens: a smaller chunk cannot hold it."""
    with pytest.raises(ConfigError, match=r"chunk_size \(3\)"):
        cut("word", 3, 0)


def test_the_version_of_the_step_is_a_number() -> None:
    """The version goes into config hashes and is raised by one."""
    assert CHUNKING_VERSION >= 1


@pytest.mark.timeout(60)
def test_a_long_run_of_flags_is_cut_between_flags() -> None:
    """No flag loses a half; the guard is for work that grows with the square of the run."""
    text = "🇩🇪" * 60_000
    chunks = chunk_document(document(text), 300, 0)

    assert all(len(chunk.text) % 2 == 0 for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_heading_stays_with_what_it_heads() -> None:
    """No chunk ends with a heading or within one, however many stand in a row."""
    part = "# Part\n\n## Orion, the long story of a ship\n\nAnn built it. " + "It flew far. " * 9
    chunks = cut((part + "\n\n") * 12, size=50, overlap=0)

    for chunk in chunks[:-1]:
        last = chunk.text.rstrip().rsplit("\n", 1)[-1]
        assert not last.startswith("#")
    for chunk in chunks:
        assert "#" not in chunk.text.lstrip()[1:] or "\n#" in chunk.text
    assert joined(chunks) == (part + "\n\n") * 12


@pytest.mark.parametrize("overlap", [0, 50])
def test_a_run_of_headings_fills_chunks(overlap: int) -> None:
    """A table of contents, or a file of comments, is not a chunk for each line."""
    text = "".join(f"# Heading number {number} of a list\n" for number in range(400))
    chunks = cut(text, size=200, overlap=overlap)

    assert len(chunks) < 30
    assert all(chunk.n_tokens > 150 for chunk in chunks[:-1])
    assert all(chunk.text[chunk.overlap :].startswith("# ") for chunk in chunks)


def test_headings_alone_are_cut_all_the_same() -> None:
    """Where there is nothing else before a heading, it ends the chunk."""
    text = "# One and the same heading again\n" * 40
    chunks = cut(text, size=20, overlap=0)

    assert joined(chunks) == text


def test_words_may_be_all_that_is_kept_whole() -> None:
    """With ``words`` a chunk takes what fits, whatever sentence it ends in."""
    text = ENGLISH * 40
    by_words = chunk_document(document(text), 50, 0, "words")
    by_sentences = chunk_document(document(text), 50, 0)

    assert all(chunk.text[-1].isspace() for chunk in by_words[:-1])
    assert any(not chunk.text.rstrip().endswith((".", "\n")) for chunk in by_words)
    assert len(by_words) <= len(by_sentences)
    assert joined(by_words) == text


@pytest.mark.parametrize("mark", ["\u200d", "\u0301", "\u0903", "\u094d\u0915"])
def test_a_mark_behind_flags_stays_with_the_last_of_them(mark: str) -> None:
    """Two flags and what joins them are one character to a reader, wherever a chunk ends."""
    text = f"{FLAG * 3}{mark}x " * 9
    boundaries = cluster_boundaries(text)

    for size in range(24, 40):
        position = 0
        for chunk in cut(text, size, 0):
            position += len(chunk.text)
            assert position in boundaries
