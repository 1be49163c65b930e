"""Sentences with their names → entities and relationships, all of it quoted from the chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import regex

from holodeck.lib.contracts import Entity, Extraction, Relationship
from holodeck.lib.providers.extractive.kinds import allowed_kind, guess_kind
from holodeck.lib.providers.extractive.names import Mention, find_names
from holodeck.lib.providers.extractive.sentences import split_sentences
from holodeck.lib.providers.extractive.words import sentence_key

__all__ = ["ReadSentence", "build_extraction", "carry_subjects", "name_pairs", "read_by_rules"]

_PAIRS = 10  # per sentence: all of five names; of a longer list the neighbours
_QUOTED_SENTENCES = 3  # in the description of a relationship
_DESCRIPTION = 300  # characters after which a description takes no further sentence
_INTRODUCES = regex.compile(
    r"\s*(?:\([^()]*\)\s*)?(?:,[^,]{1,80},\s*)?(?:is|was|are|were|became|remains)\s"
)

_SUBJECT_STARTS = 8  # characters: a name that begins a sentence, with an article before it
_PRONOUN = regex.compile(r"(he|his|she|her|it|its|they|their)\b", regex.IGNORECASE)
_PERSONS, _THINGS = ("", "person"), ("", "organization", "location", "event", "concept")
_PRONOUN_KINDS = {
    **dict.fromkeys(("he", "his", "she", "her"), _PERSONS),
    **dict.fromkeys(("it", "its"), _THINGS),
    **dict.fromkeys(("they", "their"), ("organization",)),
}


@dataclass(frozen=True, kw_only=True)
class ReadSentence:
    """A sentence, its names in order, and the verbs that a parser found between two of them."""

    text: str
    mentions: Sequence[Mention]
    verbs: Mapping[tuple[int, int], str] = field(default_factory=dict)


@dataclass
class _Subject:
    """What a chunk says of one entity while it is being gathered."""

    spellings: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    places: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The most frequent spelling that is not shouted, else the most frequent one."""
        quiet = [name for name in self.spellings if not name.isupper()] or list(self.spellings)
        return max(quiet, key=lambda name: self.spellings[name])

    @property
    def kind(self) -> str:
        return self.kinds.most_common(1)[0][0] if self.kinds else ""


@dataclass
class _Link:
    """What a chunk says of two entities while it is being gathered."""

    source: str
    target: str
    weight: float = 0.0
    has_verb: bool = False
    sentences: dict[str, None] = field(default_factory=dict)

    def add(self, sentence: str, source: str, target: str, verb: str | None) -> None:
        """Take in a sentence that has both; a verb counts twice, and the first says who did it."""
        if verb and not self.has_verb:
            self.source, self.target, self.has_verb = source, target, True
        self.weight += 2 if verb else 1
        said = f"{source} – {verb} – {target}: {sentence}" if verb else sentence
        self.sentences.setdefault(said)


def read_by_rules(text: str) -> list[ReadSentence]:
    """Return the sentences of ``text`` with the names that rules find."""
    sentences = split_sentences(text)
    return [
        ReadSentence(text=sentence, mentions=mentions)
        for sentence, mentions in zip(sentences, find_names(sentences), strict=True)
    ]


def carry_subjects(sentences: Sequence[ReadSentence]) -> list[ReadSentence]:
    """Give a sentence that begins with a pronoun the subject of the sentence before it.

    The subject is the name that the earlier sentence begins with; it is not carried from a person
    to "it" or from a place or an organization to "he".
    """
    carried: list[ReadSentence] = []
    subject: Mention | None = None
    kind = ""
    for sentence in sentences:
        pronoun = _PRONOUN.match(sentence.text)
        if pronoun is None:
            subject = next(iter(sentence.mentions), None)
            if subject is not None and subject.start > _SUBJECT_STARTS:
                subject = None
            elif subject is not None:
                kind = subject.kind or guess_kind(subject.name, sentence.text[subject.end :])
        elif subject is not None and kind in _PRONOUN_KINDS[pronoun.group(1).casefold()]:
            here = Mention(name=subject.name, start=0, end=0, kind=kind)
            verbs = {(a + 1, b + 1): verb for (a, b), verb in sentence.verbs.items()}
            mentions = (here, *sentence.mentions)
            sentence = ReadSentence(text=sentence.text, mentions=mentions, verbs=verbs)
        carried.append(sentence)
    return carried


def build_extraction(
    sentences: Sequence[ReadSentence], entity_types: Sequence[str] = ()
) -> Extraction:
    """Return what the sentences of one chunk say: their names, and which stand together."""
    sentences = carry_subjects(sentences)
    subjects = _gather(sentences)
    keys = _merge_short_names(subjects)
    titles = {key: subjects[kept].title for key, kept in keys.items()}
    merged: dict[str, _Subject] = {}
    for key, kept in keys.items():
        into = merged.setdefault(titles[key], _Subject())
        into.kinds.update({subjects[kept].kind: 1} if subjects[kept].kind else {})
        into.places.extend(subjects[key].places)
    entities = tuple(
        Entity(
            title=title,
            type=allowed_kind(subject.kind, entity_types),
            description=_describe(sorted(subject.places), sentences),
        )
        for title, subject in sorted(merged.items(), key=lambda item: min(item[1].places))
    )
    return Extraction(entities=entities, relationships=_relate(sentences, titles))


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    return sentence_key(name) or name


def _gather(sentences: Sequence[ReadSentence]) -> dict[str, _Subject]:
    subjects: dict[str, _Subject] = {}
    for number, sentence in enumerate(sentences):
        for mention in sentence.mentions:
            subject = subjects.setdefault(_key(mention.name), _Subject())
            subject.spellings[mention.name] += 1
            kind = mention.kind or guess_kind(mention.name, sentence.text[mention.end :])
            if kind:
                subject.kinds[kind] += 1
            subject.places.append((number, mention.start, mention.end))
    return subjects


def _merge_short_names(subjects: Mapping[str, _Subject]) -> dict[str, str]:
    """Map each key to that of the entity it stands for: "Scott" to "Robert Falcon Scott".

    A last name stands for a person's full name only if the chunk has one person of that name.
    """
    by_last: dict[str, list[str]] = {}
    for key, subject in subjects.items():
        words = subject.title.split()
        if len(words) > 1 and subject.kind == "person" and "of" not in words:
            by_last.setdefault(words[-1].casefold(), []).append(key)
    kept = {}
    for key, subject in subjects.items():
        full = by_last.get(subject.title.casefold(), []) if " " not in subject.title else []
        is_person = subject.kind in ("", "person")
        kept[key] = full[0] if len(full) == 1 and is_person else key
    return kept


def _describe(places: Sequence[tuple[int, int, int]], sentences: Sequence[ReadSentence]) -> str:
    """Return the sentence that best introduces a name, and more while there is room."""
    first_place = {number: (start, end) for number, start, end in reversed(places)}

    def merit(number: int) -> tuple[int, int, int]:
        start, end = first_place[number]
        text = sentences[number].text
        introduces = start <= 4 and _INTRODUCES.match(text, end) is not None
        is_closed = text[-1] in ".!?。！？\"'”’»)」』"
        return (-int(introduces), -int(is_closed), number)

    chosen: dict[str, int] = {}
    length = 0
    # A heading would run into the sentence after it: it describes only where nothing else does.
    whole = [number for number in first_place if merit(number)[1]] or list(first_place)
    for number in sorted(whole, key=merit):
        text = sentences[number].text
        if text in chosen or (chosen and length + len(text) > _DESCRIPTION):
            continue
        chosen[text] = number
        length += len(text) + 1
    return " ".join(chosen)


def _relate(
    sentences: Sequence[ReadSentence], titles: Mapping[str, str]
) -> tuple[Relationship, ...]:
    links: dict[frozenset[str], _Link] = {}
    for sentence in sentences:
        names = [titles[_key(mention.name)] for mention in sentence.mentions]
        verbs = {
            (names[left], names[right]): verb for (left, right), verb in sentence.verbs.items()
        }
        for pair in name_pairs(list(dict.fromkeys(names))):
            # Without a verb nothing tells which end is the source: the alphabet decides, so that
            # all chunks agree.
            one, other = sorted(pair, key=lambda name: (name.casefold(), name))
            link = links.setdefault(frozenset(pair), _Link(source=one, target=other))
            if (other, one) in verbs:
                one, other = other, one
            link.add(sentence.text, one, other, verbs.get((one, other)))
    return tuple(
        Relationship(
            source=link.source,
            target=link.target,
            description=" ".join(list(link.sentences)[:_QUOTED_SENTENCES]),
            weight=link.weight,
        )
        for link in links.values()
    )


def name_pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names, nearest first; all neighbours, and others up to a limit."""
    count = 0
    for distance in range(1, len(names)):
        for left in range(len(names) - distance):
            if distance > 1 and count >= _PAIRS:
                return
            count += 1
            yield names[left], names[left + distance]
