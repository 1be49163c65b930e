"""Which words of a sentence are a name."""

from __future__ import annotations

import pytest

from holodeck.lib.providers.extractive.names import find_names
from holodeck.lib.providers.extractive.sentences import split_sentences

pytestmark = pytest.mark.unit


def names_of(text: str) -> list[str]:
    """Return the names of a text in order."""
    return [mention.name for row in find_names(split_sentences(text)) for mention in row]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "We met J. R. R. Tolkien and Ludwig van Beethoven.",
            ["J. R. R. Tolkien", "Ludwig van Beethoven"],
        ),
        ("She joined the Bank of England in Cape Town.", ["Bank of England", "Cape Town"]),
        ("He saw Conan O’Brien and Jean-Luc Picard.", ["Conan O’Brien", "Jean-Luc Picard"]),
        ("It was Scott's ship, and James' dog.", ["Scott", "James"]),
        ("They sold NASA and the U.S. some iPhone parts.", ["NASA", "U.S.", "iPhone"]),
        ("He flew with Apollo 11 by ISO 4217 rules.", ["Apollo 11", "ISO 4217"]),
        ("At the 1936 Summer Olympics he won.", ["1936 Summer Olympics"]),
        ("He fought in World War I. She did not.", ["World War I"]),
        ("He read “The Lord of the Rings” twice.", ["Lord of the Rings"]),
        ("He said “Hello,” and left.", []),
        ("A company of Rome, Paris and Oslo.", ["Rome", "Paris", "Oslo"]),
        ("The president of France met Haakon of Oslo.", ["France", "Haakon", "Oslo"]),
    ],
)
def test_a_name_is_a_run_of_capitals_and_what_may_stand_inside(text: str, names: list[str]) -> None:
    """Initials, particles, numbers and apostrophes belong to a name, a possessive does not."""
    assert names_of(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "The ship left in March 1912.",
        "However, when it rained on Monday, 3 May, I slept.",
        "Famous explorers came. Ships sank. Will it rain?",
        "Led by a guide, they walked.",
        "He learnt French and was an American-born sailor.",
        "In 1912 it ended.",
        "They said that I'll go and he thinks I’d stay.",
        "See Chapter 4 and Figure 2 at https://Example.org/Path or Mail@Example.org now.",
        "EARLY LIFE AND CAREER",
        "Early Life And Education",
    ],
)
def test_what_is_capital_for_another_reason_is_no_name(text: str) -> None:
    """Starts of sentences, dates, peoples, headings and addresses are no names."""
    assert names_of(text) == []


def test_a_common_word_is_a_name_where_the_chunk_writes_it_as_one() -> None:
    """A word that begins a sentence is a name if the chunk has it capitalised inside one."""
    assert names_of("Brown led them. They trusted Brown.") == ["Brown", "Brown"]
    assert names_of("Brown bears led them. They trusted bears.") == []


def test_what_comes_before_a_name_is_not_part_of_it() -> None:
    """A first word that only joins, or a verb form before a full name, is left out."""
    text = "When Robert Falcon Scott left, it snowed. Born Roald Amundsen, he took another name."

    assert names_of(text) == ["Robert Falcon Scott", "Roald Amundsen"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("张伟领导了猎户座项目。", ["张伟", "猎户座项目"]),
        ("她写了《红楼梦》。", ["红楼梦"]),
        ("アルベルト・アインシュタインは物理学者である。", ["アルベルト・アインシュタイン"]),
        ("김철수는 삼성전자에서 일한다. 삼성전자는 크다.", ["삼성전자", "삼성전자"]),
        ("زار أحمد القاهرة. القاهرة كبيرة.", ["القاهرة", "القاهرة"]),
    ],
)
def test_names_keep_their_script(text: str, names: list[str]) -> None:
    """Scripts without capitals give the names that show themselves, as they are written."""
    assert names_of(text) == names


def test_a_mention_says_where_it_stands() -> None:
    """What stands at a mention's place is the name, with the quotes or the article it had."""
    sentence = "Then Captain Scott read “The Odd Sea” in Oslo."
    mentions = find_names([sentence])[0]

    assert [sentence[mention.start : mention.end] for mention in mentions] == [
        "Captain Scott",
        "“The Odd Sea”",
        "Oslo",
    ]
