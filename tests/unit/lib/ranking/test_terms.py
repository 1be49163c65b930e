"""Texts of any script give terms that questions about them share."""

from __future__ import annotations

import unicodedata

import pytest

from holodeck.lib.ranking.terms import question_terms, text_terms, text_words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Ann's X-ray, 2nd", ["ann", "s", "x", "ray", "2nd"]),
        ("STRASSE Straße ﬁne", ["strasse", "strasse", "fine"]),
        ("北京大学", ["北", "京", "大", "学", "北京", "京大", "大学"]),
        ("Beijing 北京 2008", ["beijing", "北", "京", "北京", "2008"]),
        ("データ", ["デ", "ー", "タ", "デー", "ータ"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("…?! 🙂", []),
    ],
    ids=["words", "folded", "chinese", "mixed", "katakana", "marks", "no-words"],
)
def test_a_text_gives_its_terms(text: str, terms: list[str]) -> None:
    """Words where blanks part them; characters and pairs of them where nothing does."""
    assert text_terms(text) == terms


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Who runs Orion, and Orion?", ["runs", "orion"]),
        ("Who are The Who?", ["who", "are", "the"]),
        ("北京大学在哪里", ["北京", "京大", "大学", "学在", "在哪", "哪里"]),
        ("京", ["京"]),
        ("?", []),
    ],
    ids=["asking", "only-asking", "chinese", "one-character", "no-words"],
)
def test_a_question_gives_each_telling_term_once(question: str, terms: list[str]) -> None:
    """Words that only ask are left out, unless the question has no others."""
    assert question_terms(question) == terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("O'Brien's X-Ray", ["o", "brien", "s", "x", "ray"]),
        ("Zoe\u0308 und Straße", ["zoë", "und", "strasse"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Peking 北京大学", ["peking", "北", "京", "大", "学"]),
    ],
    ids=["ascii", "accents", "marks", "chinese"],
)
def test_a_text_has_words_in_order(text: str, words: list[str]) -> None:
    """Of a script without blanks each character is one, and no pair of them."""
    assert text_words(text) == words


@pytest.mark.slow
def test_the_short_cut_misses_no_script() -> None:
    """Every character of a script without blanks takes the long way: it is paired."""
    regex = pytest.importorskip("regex")
    unspaced = regex.compile(
        r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
    )
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    letters = [
        char
        for char in unspaced.findall("".join(characters))
        if regex.fullmatch(r"[\p{L}\p{M}\p{N}]", char)
        and unicodedata.normalize("NFKC", char) == char
    ]
    assert len(letters) > 90_000

    assert [char for char in letters if text_terms(char * 2) != [char, char, char * 2]] == []
