"""Names that a question holds, in any script."""

from __future__ import annotations

import unicodedata

import pytest

from holodeck.lib.graphrag.search_words import Names

TITLES = (
    "Ann Lee",
    "Ann",
    "Zoë",
    "हिन्दी",
    "दी",
    "北京",
    "东京",
    "京都",
    "서울",
    "กรุงเทพ",
    "🙂",
    "R",
)


def held(question: str) -> dict[str, int]:
    """Return the titles that a question holds; the names are those that arrays say."""
    names = Names.from_arrays(Names.of(TITLES).arrays)
    return {TITLES[row]: words for row, words in names.held_by(question).items()}


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Who is Ann Lee?", ["Ann Lee"]),
        ("Does ANN know Lee, Ann?", ["Ann"]),
        ("Is zoë here?", ["Zoë"]),
        (unicodedata.normalize("NFD", "Is Zoë here?"), ["Zoë"]),
        ("हिन्दी क्या है?", ["हिन्दी"]),
        ("北京在哪里？", ["北京"]),
        ("东京都的人口", ["东京"]),
        ("서울은 어디에 있나요?", ["서울"]),
        ("กรุงเทพอยู่ที่ไหน", ["กรุงเทพ"]),
        ("Annabel leeward", []),
        ("R 🙂", []),
        ("", []),
    ],
    ids=[
        "longest", "any-case", "accent", "accent-apart", "vowel-signs", "chinese", "not-inside",
        "korean", "thai", "part-of-a-word", "no-name-to-go-by", "nothing",
    ],
)  # fmt: skip
def test_a_whole_name_is_found_in_a_question(question: str, titles: list[str]) -> None:
    """As a word among words, or among the characters of a script without blanks."""
    assert list(held(question)) == titles


def test_a_longer_name_is_held_by_more_words() -> None:
    """What a question says in more words, it means the more."""
    assert held("Ann Lee and Zoë") == {"Ann Lee": 2, "Zoë": 1}
