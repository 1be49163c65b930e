"""Names in scripts without capitals, kept as they are written.

Nothing marks a name there, so this finds only what shows itself: titles in brackets or quotes, runs
of katakana, names that end in a telling character (公司, 大学, 山 …), and words or groups of
characters that a chunk repeats. Other names are missed; a language model finds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import regex

__all__ = ["find_uncased_names"]

_MOST = 12  # repeated words or groups of one chunk that become names
_HAN = regex.compile(r"[\p{Han}々]+")
_ANY = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Arabic}\p{Hebrew}\p{Thai}\p{Devanagari}\p{Bengali}"
    r"\p{Tamil}\p{Telugu}\p{Georgian}\p{Lao}\p{Khmer}\p{Myanmar}]"
)
_BRACKETED = regex.compile(
    r"《([^《》]{1,30})》|『([^『』]{1,20})』|「([^「」。！？]{2,12})」|“([^“”。！？，]{2,12})”"
)
_KATAKANA = regex.compile(
    r"\p{Katakana}[\p{Katakana}ー]{2,}(?:[・＝]\p{Katakana}[\p{Katakana}ー]+)*"
)
_SPACED = regex.compile(
    r"[\p{Arabic}\p{Hebrew}\p{Devanagari}\p{Bengali}\p{Tamil}\p{Telugu}\p{Georgian}]"
    r"[\p{L}\p{M}]{3,}"
)
_HANGUL = regex.compile(r"\p{Hangul}{2,}")
_KOREAN_PARTICLE = regex.compile(
    r"(?<=..)(?:에서는|에서|에게|으로|이라는|이다|입니다|부터|까지|은|는|이|가|을|를|의|에|와|과|도|로)$"
)
# Words and particles of one character or two that stand between names, not inside them.
_FUNCTION = regex.compile(
    r"领导|担任|成为|位于|出生|创立|创建|建立|毕业|参加|表示|认为|发现|因为|所以|但是|以及|他们|我们|她们|这个|那个"
    r"|[的了在是和与及也都就不有这那他她它我你您个为对以于从把被给让到着过之其或而并但又将会能可要说很最更等中上下前后时里由向"
    r"領導擔這個為對於從與後時會說過著將讓給]"
)
_ENDINGS = regex.compile(
    r"\p{Han}{1,8}?(?:项目|計畫|计划|计畫|公司|集团|集團|大学|大學|学院|學院|研究所|银行|銀行|医院|醫院|协会|協會|组织|組織|委员会|委員會"
    r"|共和国|共和國|王国|王國|帝国|帝國|博物馆|博物館|战争|戰爭|半岛|半島|[省市县縣州岛島湖河山])"
)
_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮董"
    "萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟汪田任姜范方"
    "石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚"
)


def find_uncased_names(sentences: Sequence[str]) -> list[list[tuple[str, int, int]]]:
    """Return for each sentence of a chunk the names with the places where they stand."""
    if not any(_ANY.search(sentence) for sentence in sentences):
        return [[] for _ in sentences]
    repeated = _repeated(sentences)
    return [_find_in(sentence, repeated) for sentence in sentences]


def _find_in(sentence: str, repeated: Sequence[str]) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []

    def add(name: str, start: int) -> None:
        end = start + len(name)
        if name and all(end <= other[1] or start >= other[2] for other in found):
            found.append((name, start, end))

    for match in _BRACKETED.finditer(sentence):
        group = next(number for number in range(1, 5) if match.group(number) is not None)
        if _ANY.search(match.group(group)):
            add(match.group(group), match.start(group))
    for match in _KATAKANA.finditer(sentence):
        add(match.group(), match.start())
    for name, start in _named_by_form(sentence):
        add(name, start)
    for name in repeated:
        start = sentence.find(name)
        while start >= 0:
            add(name, start)
            start = sentence.find(name, start + len(name))
    return found


def _named_by_form(sentence: str) -> list[tuple[str, int]]:
    """Return what a Chinese surname begins or a telling ending closes, function words aside."""
    names = []
    for run, start in _content_runs(sentence):
        if len(run) in (2, 3) and run[0] in _SURNAMES:
            names.append((run, start))
            continue
        names.extend((match.group(), start + match.start()) for match in _ENDINGS.finditer(run))
    return [(name, start) for name, start in names if len(name) > 1]


def _content_runs(text: str) -> list[tuple[str, int]]:
    """Return the runs of Han characters between function words, with their places."""
    runs = []
    for match in _HAN.finditer(text):
        start = 0
        for word in [*_FUNCTION.finditer(match.group()), None]:
            end = word.start() if word else len(match.group())
            if end > start:
                runs.append((match.group()[start:end], match.start() + start))
            start = word.end() if word else end
    return runs


def _repeated(sentences: Sequence[str]) -> list[str]:
    """Return the words and groups of characters that occur twice or more, longest first."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        for run, _ in _content_runs(sentence):
            for length in range(2, min(6, len(run)) + 1):
                counts.update(run[at : at + length] for at in range(len(run) - length + 1))
        counts.update(_KOREAN_PARTICLE.sub("", word) for word in _HANGUL.findall(sentence))
        counts.update(_SPACED.findall(sentence))
    often = [name for name, count in counts.items() if count > 1 and len(name) > 1]
    often.sort(key=lambda name: (-len(name), -counts[name], name))
    kept: list[str] = []
    for name in often:
        # A part that never stands without the whole is no name of its own.
        if not any(name in longer and counts[name] <= counts[longer] for longer in kept):
            kept.append(name)
    kept.sort(key=lambda name: (-counts[name] * len(name), name))
    return sorted(kept[:_MOST], key=lambda name: (-len(name), name))
